//! The application form without a script, and the page that follows an application.

use domain::ApplicationState;
use validators::{Applications, Decision, application::Reviewer};

use crate::rig::Rig;

const OPERATOR: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

/// The fields of a good application, some of them changed.
fn form<'a>(changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let fields = [
        ("moniker", "Jakarta One"),
        ("operatorAddress", OPERATOR),
        ("email", "ops@example.org"),
        ("stakeAmount", "100000"),
        ("commission", "7,25"),
        ("region", "ID-JK"),
        ("website", "https://example.org"),
        ("message", "Two sites."),
        ("subject", ""),
    ];
    let change = |name: &str| changes.iter().find(|(changed, _)| *changed == name).map(|(_, value)| *value);
    fields.into_iter().map(|(name, value)| (name, change(name).unwrap_or(value))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_application_is_taken_and_followed_without_a_script() {
    let rig = Rig::new().await;
    let page = rig.get("/validators/apply").await.page();
    assert!(page.contains("<form method=\"post\" action=\"/validators/apply\""), "{page}");
    let trap = page.split("<div class=\"away\" aria-hidden=\"true\">").nth(1).unwrap();
    assert!(trap.contains("tabindex=\"-1\"") && trap.contains("autocomplete=\"off\""), "{trap}");

    let reply = rig.post("/validators/apply", &form(&[])).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    let place = reply.header("location").unwrap().to_owned();
    let id = place.strip_prefix("/validators/applications/").unwrap().parse().unwrap();
    let row = rig.db.find_application(&id).await.unwrap().expect("a row");
    assert_eq!((row.moniker.as_str(), row.commission_bps), ("Jakarta One", 725));
    assert_eq!((row.region.as_deref(), row.message.as_deref()), (Some("ID-JK"), Some("Two sites.")));
    assert_eq!(row.email.as_str(), "ops@example.org");

    let page = rig.get(&place).await.page();
    for text in [
        "Jakarta One",
        "Submitted",
        "100\u{202f}000",
        "7.25%",
        "Jakarta",
        OPERATOR,
        "within 7 days",
        "Voting",
    ] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    assert!(!page.contains("ops@") && !page.contains("Two sites."), "{page}");

    let applications = Applications::new(rig.db.clone(), false);
    let reviewer = Reviewer { name: "Sari", note: Some("secret note") };
    applications.transition(&id, Decision::Approve, reviewer, 1_800_000_000_000).await.unwrap();
    let page = rig.get_with(&place, &[("accept-language", "id")]).await.page();
    for text in ["Disetujui", "Ditinjau", "registerValidator", "2027-01-15 08:00:00 UTC"] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    assert!(!page.contains("Sari") && !page.contains("secret"), "{page}");
    assert_eq!(rig.db.find_application(&id).await.unwrap().unwrap().state, ApplicationState::Approved);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_stand_beside_their_fields_with_what_was_typed() {
    let rig = Rig::new().await;
    let bad = form(&[
        ("moniker", "<b>"),
        ("operatorAddress", "0x12"),
        ("email", "nobody"),
        ("stakeAmount", "99"),
        ("commission", "many"),
        ("region", "ID-XX"),
        ("website", "example"),
    ]);
    let reply = rig.post("/validators/apply", &bad).await;
    assert_eq!(reply.status, 422);
    for text in [
        "Must be 0x and 40 hexadecimal digits.",
        "Must be an e-mail address such as ops@example.org.",
        "Must be at least 100000 coin.",
        "Must be a number such as 5 or 7.25.",
        "Must be the code of a region of the program.",
        "Must be an address that starts with http:// or https://.",
        "value=\"&#60;b&#62;\"",
        "value=\"0x12\"",
        "value=\"many\"",
        ">Two sites.</textarea>",
        "role=\"alert\"",
    ] {
        assert!(reply.text.contains(text), "{text} is not in {}", reply.text);
    }
    assert_eq!(reply.text.matches("aria-invalid=\"true\"").count(), 6, "{}", reply.text);
    let body: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&bad).finish();
    let headers = [("content-type", "application/x-www-form-urlencoded"), ("accept-language", "id")];
    let reply = rig.ask("POST", "/validators/apply", &headers, &body).await;
    for text in [
        "Harus 0x dan 40 digit heksadesimal.",
        "Harus berupa angka seperti 5 atau 7.25.",
        "Pendaftaran belum terkirim.",
    ] {
        assert!(reply.text.contains(text), "{text} is not in {}", reply.text);
    }
    assert!(rig.db.list_applications(None, None, 10).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_and_second_applications_are_refused_and_floods_are_stopped() {
    let rig = Rig::new().await;
    let reply = rig.post("/validators/apply", &form(&[("subject", "x")])).await;
    assert_eq!(reply.status, 422);
    assert!(reply.text.contains("A hidden field was filled"), "{}", reply.text);
    assert!(rig.db.list_applications(None, None, 10).await.unwrap().is_empty());

    assert_eq!(rig.post("/validators/apply", &form(&[])).await.status, 303);
    let reply = rig.post("/validators/apply", &form(&[("moniker", "Again")])).await;
    assert_eq!(reply.status, 409);
    assert!(reply.text.contains("has an open application already") && reply.text.contains("value=\"Again\""));

    for _ in 3..12 {
        assert_eq!(rig.post("/validators/apply", &form(&[])).await.status, 409);
    }
    let reply = rig.post("/validators/apply", &form(&[])).await;
    assert_eq!(reply.status, 429);
    assert!(reply.header("retry-after").is_some());
    assert_eq!(rig.get("/validators/apply").await.status, 200, "reading is not limited so");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_in_a_mail_confirms_with_a_button() {
    let rig = Rig::with(crate::rig::Wishes { is_private: true, ..crate::rig::Wishes::default() }).await;
    let applications = Applications::new(rig.db.clone(), true);
    let draft = validators::application::ApplicationDraft {
        moniker: "Jakarta One".to_owned(),
        operator_address: crate::rig::FRIEND.to_owned(),
        email: "ops@example.org".to_owned(),
        stake_amount: "100000".to_owned(),
        commission: 5.0,
        website: None,
        region: None,
        message: None,
    };
    let now = rig.clock_seconds() * 1_000;
    let id = applications.submit(&draft, None, now).await.unwrap().row.id;
    let token = rig.db.take_due_mail(now, now, 1).await.unwrap().remove(0).confirmation.unwrap();
    let link = format!("/validators/confirm/{token}");
    // By mail the link reaches people who have no key.
    let stranger = "203.0.113.9".parse().unwrap();
    let page = rig.ask_from(stranger, "GET", &link, &[], "").await.page();
    assert!(page.contains("id=\"confirm\""), "{page}");
    assert_eq!(
        applications.get(&id).await.unwrap().is_email_confirmed,
        Some(false),
        "looking changes nothing"
    );
    let done = rig.ask_from(stranger, "POST", &link, &[], "").await.page();
    assert!(done.contains("The address is confirmed."), "{done}");
    assert_eq!(applications.get(&id).await.unwrap().is_email_confirmed, Some(true));
    let unknown = rig.ask_from(stranger, "POST", "/validators/confirm/x", &[], "").await;
    assert_eq!(unknown.status, hyper::StatusCode::NOT_FOUND);
}
