use alloy_primitives::address;
use proptest::prelude::*;

use super::*;

fn draft() -> ApplicationDraft {
    ApplicationDraft {
        moniker: "Jakarta One".to_owned(),
        operator_address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266".to_owned(),
        email: "ops@example.org".to_owned(),
        stake_amount: "100000".to_owned(),
        commission: 5.0,
        ..ApplicationDraft::default()
    }
}

/// The codes of a refused draft, by field.
fn faults(draft: &ApplicationDraft) -> Vec<(String, &'static str)> {
    let failures = draft.check().expect_err("a refused draft");
    failures.into_iter().map(|failure| (failure.field.into_owned(), failure.code)).collect()
}

#[track_caller]
fn refuses(change: impl FnOnce(&mut ApplicationDraft), field: &str, code: &'static str) {
    let mut draft = draft();
    change(&mut draft);
    assert_eq!(faults(&draft), [(field.to_owned(), code)]);
}

#[test]
fn a_good_draft_becomes_an_application() {
    let draft = ApplicationDraft {
        moniker: "  Jakarta One ".to_owned(),
        commission: 7.25,
        stake_amount: "100000.000000000000000001".to_owned(),
        website: Some("https://example.org".to_owned()),
        region: Some("ID-JK".to_owned()),
        message: Some("two lines\nof text".to_owned()),
        ..draft()
    };
    let application = draft.check().expect("a good draft");
    assert_eq!(application.moniker, "Jakarta One");
    assert_eq!(application.operator, address!("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266"));
    assert_eq!(application.commission_bps, 725);
    assert_eq!(application.stake.to_string(), "100000.000000000000000001");
    assert_eq!(application.region, Some("ID-JK"));
    assert_eq!(application.message.as_deref(), Some("two lines\nof text"));
}

#[test]
fn all_faults_are_reported_at_once() {
    let empty = ApplicationDraft {
        commission: -1.0,
        website: Some("example".to_owned()),
        region: Some("ID-XX".to_owned()),
        message: Some("x".repeat(2_001)),
        ..ApplicationDraft::default()
    };
    let fields: Vec<String> = faults(&empty).into_iter().map(|(field, _)| field).collect();
    assert_eq!(
        fields,
        ["moniker", "operatorAddress", "email", "stakeAmount", "commission", "website", "region", "message"]
    );
}

#[test]
fn monikers_are_counted_in_characters_after_trimming() {
    for good in ["abc", "三つの", &"é".repeat(40)] {
        let draft = ApplicationDraft { moniker: good.to_owned(), ..draft() };
        assert_eq!(draft.check().expect("a good moniker").moniker, good);
    }
    for bad in ["", "ab", "  ab  ", &"x".repeat(41)] {
        refuses(|draft| draft.moniker = bad.to_owned(), "moniker", "invalid_length");
    }
    for bad in ["abc\u{202e}def", "a\u{0}bc", "ab\u{200b}c", "line\nbreak", "tag\u{e0041}s"] {
        refuses(|draft| draft.moniker = bad.to_owned(), "moniker", "invalid_characters");
    }
}

#[test]
fn operators_need_a_checksum_only_in_mixed_case() {
    for good in ["0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266", "0xF39FD6E51AAD88F6F4CE6AB8827279CFFFB92266"] {
        let draft = ApplicationDraft { operator_address: good.to_owned(), ..draft() };
        assert!(draft.check().is_ok(), "{good}");
    }
    let wrong = "0xF39fd6e51aad88f6f4ce6ab8827279cfffb92266".to_owned();
    refuses(|draft| draft.operator_address = wrong, "operatorAddress", "invalid_checksum");
    for bad in ["", "0x", "f39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0xzz", &format!("0x{:040}", 0)] {
        refuses(|draft| draft.operator_address = bad.to_owned(), "operatorAddress", "invalid_address");
    }
}

#[test]
fn stakes_start_at_the_minimum() {
    for (text, code) in [
        ("99999.999999999999999999", "too_small"),
        ("100000.0000000000000000001", "too_precise"),
        ("1e6", "invalid_amount"),
        ("-100000", "invalid_amount"),
        (&*"9".repeat(90), "too_large"),
    ] {
        refuses(|draft| draft.stake_amount = text.to_owned(), "stakeAmount", code);
    }
}

#[test]
fn commissions_are_percent_with_two_decimals() {
    for (percent, bps) in [(0.0, 0), (0.01, 1), (0.07, 7), (0.29, 29), (19.99, 1_999), (20.0, 2_000)] {
        let draft = ApplicationDraft { commission: percent, ..draft() };
        assert_eq!(draft.check().expect("a good commission").commission_bps, bps);
    }
    for percent in [-0.01, 20.01, f64::NAN, f64::INFINITY] {
        refuses(|draft| draft.commission = percent, "commission", "out_of_range");
    }
    refuses(|draft| draft.commission = 5.005, "commission", "too_precise");
}

#[test]
fn an_empty_optional_field_is_an_absent_one() {
    let draft = ApplicationDraft {
        website: Some(" ".to_owned()),
        region: Some(String::new()),
        message: Some(String::new()),
        ..draft()
    };
    let application = draft.check().expect("a good draft");
    assert_eq!((application.website, application.region, application.message), (None, None, None));
}

proptest! {
    #[test]
    fn every_commission_in_hundredths_of_a_percent_is_taken_exactly(bps in 0u16..=2_000) {
        let percent: f64 = format!("{}.{:02}", bps / 100, bps % 100).parse().expect("a number");
        let application = ApplicationDraft { commission: percent, ..draft() }.check();
        prop_assert_eq!(application.expect("a good commission").commission_bps, bps);
    }

    #[test]
    fn no_draft_makes_the_check_panic(
        moniker in "\\PC{0,50}",
        operator_address in "(0x)?[0-9a-zA-Z\\PC]{0,44}",
        email in "\\PC{0,40}",
        stake_amount in "\\PC{0,40}|[0-9.]{0,90}",
        commission in any::<f64>(),
    ) {
        let draft = ApplicationDraft { moniker, operator_address, email, stake_amount, commission, ..draft() };
        if let Ok(application) = draft.check() {
            prop_assert!(application.stake >= program::min_stake());
            prop_assert!(application.commission_bps <= program::MAX_COMMISSION_BPS);
        }
    }
}
