//! Mail about applications, through a real connection to a mail server made for the test.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use chainnet_validators::{
    Applications, Clock, Decision,
    application::Reviewer,
    mail::{MailWorker, Mailer, SmtpSettings, TlsMode},
};
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
        let worker = MailWorker::new(db, mailer(server.port), clock(&now));
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

fn clock(now: &Arc<AtomicU64>) -> Clock {
    let now = now.clone();
    Arc::new(move || now.load(Ordering::Relaxed))
}

store::engine_tests! {
    async fn every_change_of_state_is_told_once(test: TestDb) {
        let office = Office::open(test.db()).await;
        let applications = Applications::new(test.db(), true);
        let id = applications.submit(&draft(1), NOW).await.expect("an application").row.id;
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
        assert_eq!(subjects, ["Validator application: approved", "Validator application: received"]);
        for letter in &received {
            assert!(letter.to.contains("<ops1@example.org>") && letter.from.contains("<program@example.org>"));
            assert!(letter.text.contains(id.as_str()) && letter.text.contains("Hello Validator 1,"));
            assert_eq!(letter.text.contains("server room"), letter.text.contains("approved"));
            assert!(!letter.text.contains("alice"));
        }
        assert_eq!(test.count_open_mail().await.expect("a count"), 0);
    }

    async fn mail_that_is_refused_for_now_is_tried_again_later(test: TestDb) {
        let office = Office::open(test.db()).await;
        let applications = Applications::new(test.db(), true);
        applications.submit(&draft(1), NOW).await.expect("an application");
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
        applications.submit(&draft(1), NOW).await.expect("an application");
        office.server.refuse(Some("550 no such person"));
        assert_eq!(office.send().await, 1);
        assert_eq!(test.count_open_mail().await.expect("a count"), 0);

        applications.submit(&draft(2), NOW).await.expect("an application");
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
        applications.submit(&draft(1), NOW).await.expect("an application");
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
            applications.submit(&draft(number), NOW).await.expect("an application");
        }
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let worker = MailWorker::new(test.db(), mailer(office.server.port), clock(&office.now));
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

    async fn nothing_is_queued_without_a_mail_server(test: TestDb) {
        let applications = Applications::new(test.db(), false);
        let id = applications.submit(&draft(1), NOW).await.expect("an application").row.id;
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
