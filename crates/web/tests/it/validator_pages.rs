//! Ranking, validator, program, expansion: what visitors read there.

use alloy_primitives::{Address, TxKind, U256};
use alloy_sol_types::SolCall;
use contracts::PlatformValidatorRegistry::{distributeRewardsCall, expandToPhaseCall, slashValidatorCall};
use ibft::{
    seal::ValidatorKey,
    votes::{Vote, VoteKind},
};

use crate::rig::{Rig, Wishes, deployment, first_validator, keys};

const INDONESIAN: [(&str, &str); 1] = [("accept-language", "id")];

impl Rig {
    /// Calls the registry from a development account and mines it.
    async fn call_registry(&self, account: usize, nonce: u64, value: U256, call: impl SolCall) {
        let registry = deployment().contracts.platform_validator_registry;
        self.send(account, nonce, TxKind::Call(registry), value, call.abi_encode().into());
        self.mine().await;
    }

    /// Slashes a validator for downtime.
    async fn slash(&self, nonce: u64, operator: Address) {
        self.call_registry(1, nonce, U256::ZERO, slashValidatorCall { operator, reason: 1 }).await;
    }
}

#[track_caller]
fn has(page: &str, wanted: &[&str]) {
    for text in wanted {
        assert!(page.contains(text), "{text:?} is not in {page}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ranking_has_every_validator_with_its_figures_and_strip() {
    let rig = Rig::new().await;
    for _ in 0..6 {
        rig.mine().await;
    }
    let page = rig.get("/validators").await.page();
    has(
        &page,
        &["Validator 1", "Validator 5", "100.00%", ">5%<", "20.0%", "data-refresh", "Last 7 blocks: "],
    );
    has(&page, &["no sign of absence", "/api/v1/validators/ranking", "45", "provisional"]);
    has(&page, &["Hold over a third</span><b>2</b>", "Quorum</span><b>4</b>"]);
    let rows = page.matches("<svg class=\"strip\" viewBox=\"0 0 28 16\"").count();
    assert_eq!(rows, 5, "{page}");
    let page = rig.get_with("/validators", &INDONESIAN).await.page();
    has(&page, &["Giliran terlewat", "7 blok terakhir: ", "bukan tanda ketidakhadiran", "Kuorum"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_show_the_jailed_and_the_former_and_all_keeps_them_listed() {
    let rig = Rig::new().await;
    let [jailed, out] = [keys()[1].address(), keys()[2].address()];
    rig.slash(0, jailed).await;
    for nonce in 1..4 {
        rig.slash(nonce, out).await;
    }
    let names = async |status: &str| {
        let page = rig.get(&format!("/validators?status={status}")).await.page();
        (1..=5).filter(|number| page.contains(&format!(">Validator {number}<"))).collect::<Vec<_>>()
    };
    assert_eq!(names("active").await, [1, 4, 5]);
    assert_eq!(names("jailed").await, [2]);
    assert_eq!(names("former").await, [3]);
    assert_eq!(names("all").await, [1, 2, 3, 4, 5]);
    assert_eq!(rig.get("/validators?status=moon").await.status, 400);
    assert_eq!(rig.get("/validators?after=x").await.status, 400);
    let later = rig.get("/validators?after=4").await.page();
    assert!(
        !later.contains("data-refresh") && later.matches("class=\"strip\" viewBox=\"0 0 20").count() == 1
    );

    let page = rig.get(&format!("/validators/{jailed}")).await.page();
    has(
        &page,
        &[
            "Jailed",
            "Jailed until",
            "Slashed",
            "downtime",
            "/block/1",
            "1 <span class=\"soft\">(the third removes it)",
        ],
    );
    let page = rig.get_with(&format!("/validators/{out}"), &INDONESIAN).await.page();
    has(&page, &["Dikeluarkan", "Kena slash", "tidak aktif", "yang ketiga mengeluarkannya"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_validator_is_shown_in_full() {
    let rig = Rig::with(Wishes { first_name: "<b>Jakarta & Co</b>", ..Wishes::default() }).await;
    for _ in 0..5 {
        rig.mine().await;
    }
    let operator = first_validator();
    let amount = domain::Wei::from_coin(70).0;
    rig.call_registry(0, 0, amount, distributeRewardsCall { operator, amount }).await;
    let page = rig.get(&format!("/validators/{operator}")).await.page();
    has(
        &page,
        &["&#60;b&#62;Jakarta &#38; Co", "It has never missed a turn.", "✓ kept", "Set aside", ">70<"],
    );
    has(
        &page,
        &[
            "Commission",
            "Seals",
            "Tenure",
            "/ 45</small>",
            "https://validator.example.org",
            "the operator&#39;s address",
        ],
    );
    has(&page, &["None is known.", "Nobody votes about it at present.", &operator.to_checksum(None)]);
    assert!(!page.contains("<b>Jakarta"), "{page}");
    let page = rig.get_with(&format!("/validators/{operator}"), &INDONESIAN).await.page();
    has(&page, &["Belum pernah melewatkan giliran.", "Disisihkan", "Masa keanggotaan"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missed_turns_are_listed_with_links_to_their_blocks() {
    let rig = Rig::new().await;
    rig.control.stop_validator("V1").await.unwrap();
    for _ in 0..7 {
        rig.mine().await;
    }
    let page = rig.get("/validators").await.page();
    let operator = first_validator().to_checksum(None);
    has(&page, &[&format!("/validators/{operator}#missed"), "class=\"m\""]);
    let page = rig.get(&format!("/validators/{operator}")).await.page();
    has(&page, &["✕ missed", "turns missed", "<section class=\"card\" id=\"missed\">"]);
    let listed = page.split("id=\"missed\"").nth(1).unwrap();
    has(listed.split("</section>").next().unwrap(), &["/block/", "✕ missed"]);
    let none = rig.get(&format!("/validators/{operator}?missed_before=1")).await.page();
    assert!(!none.contains("data-refresh"), "{none}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_validator_is_told_so() {
    let rig = Rig::new().await;
    let stranger = Address::repeat_byte(7).to_string();
    for (path, status, words) in [
        (format!("/validators/{stranger}"), 404, "No validator has this address"),
        ("/validators/0x12".to_owned(), 400, "This is not an address"),
        (format!("/validators/{}?missed_before=x", first_validator()), 400, "missed_before"),
        ("/validators/applications/app_1".to_owned(), 404, "There is no such application"),
    ] {
        let reply = rig.get(&path).await;
        assert_eq!(reply.status.as_u16(), status, "{path}: {}", reply.text);
        has(&reply.text, &[words]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_is_told_in_both_languages() {
    let rig = Rig::new().await;
    let page = rig.get("/validators/program").await.page();
    has(
        &page,
        &[
            "100\u{202f}000 PNC",
            "20%",
            "99%",
            "4 CPU",
            "16 GB RAM",
            "Besu 24.x",
            "Genesis Validators",
            "ID-ML",
        ],
    );
    has(&page, &["5% of the stake", "1% of the stake", "7 days", "The IBFT validator vote", ">now<"]);
    let page = rig.get_with("/validators/program", &INDONESIAN).await.page();
    has(
        &page,
        &["Stake minimum", "Validator Genesis", "Kirim pendaftaran", "Jawa Timur", "penjara selama 7 hari"],
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_expansion_follows_the_registry_and_the_votes() {
    let rig = Rig::new().await;
    let page = rig.get("/validators/expansion").await.page();
    has(
        &page,
        &["<b>5 / 5</b>", "Target: 21", "Maluku and Papua", "Nobody is being voted on.", "by application"],
    );
    rig.call_registry(0, 0, U256::ZERO, expandToPhaseCall { phase: 2 }).await;
    let page = rig.get("/validators/expansion").await.page();
    has(
        &page,
        &[
            "<b>5 / 11</b>",
            "Open slots</span><b>6</b>",
            "anybody may register",
            "<tr aria-current=\"step\"><td class=\"n\">2</td>",
        ],
    );
    let stranger = Address::repeat_byte(9);
    for voter in ["V1", "V2"] {
        let vote = Vote { recipient: stranger, kind: VoteKind::Add };
        rig.control.propose_vote(voter, vote).await.unwrap();
    }
    for _ in 0..6 {
        rig.mine().await;
    }
    let page = rig.get("/validators/expansion").await.page();
    has(
        &page,
        &[
            "Add to the set",
            "2 of 3",
            "Validator 1",
            "Validator 2",
            &stranger.to_checksum(None),
            "29\u{202f}993 blocks",
        ],
    );
    let page = rig.get_with("/validators/expansion", &INDONESIAN).await.page();
    has(&page, &["Slot per wilayah", "Jawa Tengah", "Perluasan Program", "Internasional"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pages_stay_when_no_node_answers() {
    let rig = Rig::new().await;
    rig.mine().await;
    rig.node.cut(true);
    for path in [
        "/validators",
        "/validators/expansion",
        "/validators/program",
        &format!("/validators/{}", first_validator()),
    ] {
        let page = rig.get(path).await.page();
        has(&page, &["class=\"alarm\""]);
    }
}
