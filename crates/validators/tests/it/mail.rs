//! Mail about applications, through a real connection to a mail server made for the test.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use chainnet_validators::{
    Applications, Clock, Decision,
    application::{ApplicationDraft, Reviewer},
    mail::{MailWorker, Mailer, SmtpSettings, TlsMode},
};
use domain::{Failure, FailureKind};
use store::Db;

use crate::{
    applications::{ALICE, NOW, draft},
    mail_server::MailServer,
};

const MINUTE: u64 = 60_000;

/// A worker, its server, and a clock that only the test moves.
struct Office {
    server: MailServer,
    worker: MailWorker,
    now: Arc<AtomicU64>,
}

impl Office {
    async fn open(db: Db) -> Self {
        let server = MailServer::start().await;
        let now = Arc::new(AtomicU64::new(NOW));
        let worker = MailWorker::new(db, mailer(server.port), pages(), clock(&now));
        Self { server, worker, now }
    }

    async fn send(&self) -> usize {
        self.worker.send_due().await.expect("an outbox")
    }

    fn wait(&self, millis: u64) {
        self.now.fetch_add(millis, Ordering::Relaxed);
    }
}

fn mailer(port: u16) -> Mailer {
    let settings = SmtpSettings {
        host: "127.0.0.1".to_owned(),
        port,
        credentials: None,
        from: "Validator program <program@example.org>".to_owned(),
        tls: TlsMode::None,
    };
    Mailer::new(&settings).expect("good settings")
}

fn pages() -> domain::WebUrl {
    "https://explorer.example".parse().expect("an address")
}

/// Follows the link of the last letter that has one.
async fn follow_link(applications: &Applications, server: &MailServer, now: u64) {
    let letters = server.received();
    let marks = "https://explorer.example/validators/confirm/";
    let token = letters.iter().rev().find_map(|letter| letter.text.split_once(marks)).expect("a link").1;
    let token: String = token.chars().take_while(char::is_ascii_alphanumeric).collect();
    applications.confirm_email(&token, now).await.expect("a link that is good");
}

fn clock(now: &Arc<AtomicU64>) -> Clock {
    let now = now.clone();
    Arc::new(move || now.load(Ordering::Relaxed))
}

store::engine_tests! {
    async fn every_change_of_state_is_told_once(test: TestDb) {
        let office = Office::open(test.db()).await;
        let applications = Applications::new(test.db(), true);
        let id = applications.submit(&draft(1), None, NOW).await.expect("an application").row.id;
        while office.send().await > 0 {}
        follow_link(&applications, &office.server, NOW).await;
        let note = Reviewer { name: "alice", note: Some("Your server room is lovely.") };
        applications.transition(&id, Decision::Approve, note, NOW).await.expect("a step");
        while office.send().await > 0 {}
        office.wait(100 * MINUTE);
        assert_eq!(office.send().await, 0);

        let received = office.server.received();
        let mut subjects: Vec<_> = received
            .iter()
            .filter_map(|letter| letter.text.lines().find_map(|line| line.strip_prefix("Subject: ")))
            .collect();
        subjects.sort_unstable();
        assert_eq!(
            subjects,
            ["Validator application: approved", "Validator application: confirm your e-mail address"]
        );
        for letter in &received {
            assert!(letter.to.contains("<ops1@example.org>") && letter.from.contains("<program@example.org>"));
            let is_news = letter.text.contains("approved");
            assert!(letter.text.contains(id.as_str()));
            assert_eq!(letter.text.contains("Validator 1"), is_news, "nothing that the applicant wrote");
            assert_eq!(letter.text.contains("server room"), is_news);
            assert!(!letter.text.contains("alice"));
        }
        assert_eq!(test.count_open_mail().await.expect("a count"), 0);
    }

    async fn mail_that_is_refused_for_now_is_tried_again_later(test: TestDb) {
        let office = Office::open(test.db()).await;
        let applications = Applications::new(test.db(), true);
        applications.submit(&draft(1), None, NOW).await.expect("an application");
        office.server.refuse(Some("451 try again later"));
        assert_eq!(office.send().await, 1);
        assert_eq!(office.send().await, 0, "not at once");
        office.wait(MINUTE);
        assert_eq!(office.send().await, 1);
        office.server.refuse(None);
        office.wait(5 * MINUTE);
        assert_eq!(office.send().await, 1);
        assert_eq!(office.server.received().len(), 1);
        assert_eq!(test.count_open_mail().await.expect("a count"), 0);
    }

    async fn mail_that_is_refused_for_good_or_too_often_is_given_up(test: TestDb) {
        let office = Office::open(test.db()).await;
        let applications = Applications::new(test.db(), true);
        applications.submit(&draft(1), None, NOW).await.expect("an application");
        office.server.refuse(Some("550 no such person"));
        assert_eq!(office.send().await, 1);
        assert_eq!(test.count_open_mail().await.expect("a count"), 0);

        applications.submit(&draft(2), None, NOW).await.expect("an application");
        office.server.refuse(Some("451 try again later"));
        let mut tries = 0;
        while test.count_open_mail().await.expect("a count") > 0 {
            tries += office.send().await;
            office.wait(24 * 60 * MINUTE);
        }
        assert_eq!(tries, 8);
        assert_eq!(office.server.received(), []);
    }

    async fn mail_that_a_dead_worker_had_taken_is_sent_by_another(test: TestDb) {
        let office = Office::open(test.db()).await;
        let applications = Applications::new(test.db(), true);
        applications.submit(&draft(1), None, NOW).await.expect("an application");
        let taken = test.take_due_mail(NOW, NOW + 10 * MINUTE, 8).await.expect("mail");
        assert_eq!(taken.len(), 1);
        assert_eq!(office.send().await, 0, "it is leased");
        office.wait(10 * MINUTE);
        assert_eq!(office.send().await, 1);
        // The dead one wakes up: its lease is over, so what it says does not count.
        test.postpone_mail(&taken[0], Some(NOW)).await.expect("a database");
        assert_eq!(test.count_open_mail().await.expect("a count"), 0);
    }

    async fn many_workers_send_everything_once(test: TestDb) {
        let office = Office::open(test.db()).await;
        let applications = Applications::new(test.db(), true);
        for number in 1..=20 {
            applications.submit(&draft(number), None, NOW).await.expect("an application");
        }
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let worker = MailWorker::new(test.db(), mailer(office.server.port), pages(), clock(&office.now));
                tokio::spawn(async move { while worker.send_due().await.expect("an outbox") > 0 {} })
            })
            .collect();
        for worker in workers {
            worker.await.expect("a worker");
        }
        let mut recipients: Vec<_> = office.server.received().into_iter().map(|letter| letter.to).collect();
        recipients.sort_unstable();
        recipients.dedup();
        assert_eq!((recipients.len(), office.server.received().len()), (20, 20));
    }

    async fn a_victim_gets_one_mail_whoever_applies_and_however_often(test: TestDb) {
        let office = Office::open(test.db()).await;
        let applications = Applications::new(test.db(), true);
        let mut taken = Vec::new();
        for number in 0..95u64 {
            let address = std::net::IpAddr::from([203, 0, 113, u8::try_from(number).expect("a small number")]);
            let email = ["victim@example.org", "Victim@Example.org", "victim+x@example.org"][number as usize % 3];
            let draft = ApplicationDraft { email: email.to_owned(), ..draft(number + 1) };
            match applications.submit(&draft, Some(address.into()), NOW + number).await {
                Ok(application) => taken.push(application),
                Err(error) => assert_eq!(error.code(), "rate_limited"),
            }
        }
        assert_eq!(taken.len(), 3, "so many of one mailbox in 24 hours");
        assert_eq!(taken[0].is_email_confirmed, Some(false));
        for application in &taken {
            applications.transition(&application.row.id, Decision::Approve, ALICE, NOW + 200).await.expect("a step");
        }
        office.wait(1_000);
        while office.send().await > 0 {}
        let mut recipients: Vec<_> = office.server.received().into_iter().map(|letter| letter.to).collect();
        recipients.sort_unstable();
        // `victim+x` is an address of its own, which may be somebody else's.
        assert_eq!(recipients.len(), 2, "{recipients:?}");
        office.wait(24 * 60 * MINUTE);
        let next = ApplicationDraft { email: "victim@example.org".to_owned(), ..draft(500) };
        applications.submit(&next, None, NOW + 24 * 60 * MINUTE).await.expect("another day");
        while office.send().await > 0 {}
        assert_eq!(office.server.received().len(), 3);
        let subject = "Subject: Validator application: confirm your e-mail address";
        assert!(office.server.received().iter().all(|letter| letter.text.contains(subject)));
    }

    async fn a_client_applies_ten_times_a_day(test: TestDb) {
        let applications = Applications::new(test.db(), true);
        let (client, other) = ([203, 0, 113, 9], [203, 0, 113, 10]);
        let client_of = |address: [u8; 4]| Some(std::net::IpAddr::from(address).into());
        for number in 1..=10 {
            applications.submit(&draft(number), client_of(client), NOW).await.expect("an application");
        }
        let error = applications.submit(&draft(11), client_of(client), NOW).await.expect_err("a refusal");
        assert_eq!((error.kind(), error.code()), (FailureKind::Limited, "rate_limited"));
        applications.submit(&draft(11), client_of(other), NOW).await.expect("somebody else");
        applications.submit(&draft(12), client_of(client), NOW + 24 * 60 * MINUTE).await.expect("another day");
        let quiet = Applications::new(test.db(), false);
        for number in 20..40 {
            quiet.submit(&draft(number), client_of(client), NOW).await.expect("nobody is written to");
        }
    }

    async fn a_link_confirms_for_a_week(test: TestDb) {
        let office = Office::open(test.db()).await;
        let applications = Applications::new(test.db(), true);
        let id = applications.submit(&draft(1), None, NOW).await.expect("an application").row.id;
        while office.send().await > 0 {}
        let error = applications.confirm_email("0192f00d0192f00d0192f00d0192f00d", NOW).await.expect_err("no link");
        assert_eq!(error.code(), "confirmation_not_found");
        for _ in 0..2 {
            follow_link(&applications, &office.server, NOW + 7 * 24 * 60 * MINUTE).await;
        }
        assert_eq!(applications.get(&id).await.expect("it").is_email_confirmed, Some(true));
    }

    async fn nothing_is_queued_without_a_mail_server(test: TestDb) {
        let applications = Applications::new(test.db(), false);
        let id = applications.submit(&draft(1), None, NOW).await.expect("an application").row.id;
        applications.transition(&id, Decision::Approve, ALICE, NOW).await.expect("a step");
        assert_eq!(test.count_open_mail().await.expect("a count"), 0);
    }
}

#[test]
fn settings_do_not_print_their_password() {
    let settings = SmtpSettings {
        host: "mail.example.org".to_owned(),
        port: 587,
        credentials: Some(("user".to_owned(), chainnet_validators::mail::Password::new("hunter2"))),
        from: "program@example.org".to_owned(),
        tls: TlsMode::StartTls,
    };
    assert!(!format!("{settings:?}").contains("hunter2"));
    let wrong = SmtpSettings { from: "nobody".to_owned(), ..settings };
    let error = Mailer::new(&wrong).expect_err("a refusal");
    assert_eq!(error.to_string(), "the sender of mail is not an address");
}
