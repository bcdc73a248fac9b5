//! Real calls and events come out under their names, and odd bytes do no harm.

use alloy_primitives::{Address, B256, Bytes, LogData, U256};
use alloy_sol_types::{SolCall, SolError, SolEvent};
use contracts::{
    Multicall3, PlatformFees, PlatformValidatorRegistry, bindings::multicall3::IMulticall3::Call3,
    fees::FeeSource,
};

use super::*;
use crate::parts::AddressLink;

struct Nobody;

impl Names for Nobody {
    fn link(&self, address: Address) -> AddressLink {
        AddressLink::new(address, None)
    }

    fn symbol(&self) -> &str {
        "PNC"
    }
}

fn printed(decoded: &Decoded) -> Vec<(String, String)> {
    let print =
        |parameter: &Parameter| (parameter.name.clone(), Printed::new(parameter, &Nobody).to_string());
    decoded.parameters.iter().map(print).collect()
}

#[test]
fn a_call_of_ours_has_names_types_and_amounts() {
    let call = PlatformValidatorRegistry::registerValidatorCall {
        moniker: "<b>Kopi</b>".to_owned(),
        website: String::new(),
        stake: U256::from(10).pow(U256::from(23)),
        commissionBps: 550,
    };
    let decoded = Decoded::call(&call.abi_encode(), None).unwrap();
    assert_eq!(decoded.interface, "PlatformValidatorRegistry");
    assert_eq!(decoded.signature, "registerValidator(string,string,uint256,uint16)");
    let values = printed(&decoded);
    assert_eq!(values[0], ("moniker".to_owned(), "“&lt;b&gt;Kopi&lt;/b&gt;”".to_owned()));
    assert!(values[2].1.ends_with("<small>= 100\u{202f}000 PNC</small>"), "{values:?}");
    assert_eq!(values[3].1, "550 <small>= 5.50%</small>");
}

#[test]
fn an_event_of_ours_says_where_a_fee_comes_from() {
    let event = PlatformFees::FeePaid {
        source: FeeSource::Bridge.id(),
        r#ref: B256::repeat_byte(2),
        payer: Address::repeat_byte(3),
        amount: U256::from(10),
        burned: U256::from(3),
        held: U256::from(7),
    };
    let decoded = Decoded::event(&event.encode_log_data(), Some("PlatformFees")).unwrap();
    let values = printed(&decoded);
    assert_eq!(decoded.name, "FeePaid");
    assert!(values[0].1.ends_with("<small>= bridge</small>"), "{values:?}");
    assert!(values[2].1.contains("/address/0x0303030303030303030303030303030303030303"), "{values:?}");
    assert_eq!(values[5].0, "held");
}

#[test]
fn tokens_of_two_standards_are_told_apart_by_what_is_indexed() {
    let topic = alloy_primitives::keccak256("Transfer(address,address,uint256)");
    let who = B256::left_padding_from(&[9; 20]);
    let amount = Bytes::from(U256::from(5).to_be_bytes::<32>());
    let coins = LogData::new_unchecked(vec![topic, who, who], amount);
    assert_eq!(Decoded::event(&coins, None).unwrap().interface, "ERC-20");
    let token = LogData::new_unchecked(vec![topic, who, who, B256::with_last_byte(5)], Bytes::new());
    let decoded = Decoded::event(&token, None).unwrap();
    assert_eq!((decoded.interface, decoded.parameters[2].name.as_str()), ("ERC-721", "tokenId"));
    let odd = LogData::new_unchecked(vec![topic], Bytes::new());
    assert!(Decoded::event(&odd, None).is_none());
}

#[test]
fn refusals_carry_their_values() {
    let error = PlatformValidatorRegistry::ValidatorRegistryFull { maxValidators: U256::from(5) };
    let decoded = Decoded::error(&error.abi_encode()).unwrap();
    assert_eq!(decoded.name, "ValidatorRegistryFull");
    assert_eq!(printed(&decoded), [("maxValidators".to_owned(), "5".to_owned())]);
}

#[test]
fn long_lists_and_texts_are_cut() {
    let call = |_| Call3 { target: Address::ZERO, allowFailure: true, callData: vec![7; 200].into() };
    let batch = Multicall3::aggregate3Call { calls: (0..40).map(call).collect() };
    let decoded = Decoded::call(&batch.abi_encode(), None).unwrap();
    let [(_, text)] = &printed(&decoded)[..] else { panic!("one parameter") };
    assert!(text.ends_with("<li>… (40)</li></ol>"), "{text}");
    assert!(text.contains("… (200 B)") && text.len() < 12_000, "{}", text.len());
    let many = Multicall3::aggregate3Call { calls: (0..100).map(call).collect() };
    assert!(Decoded::call(&many.abi_encode(), None).is_none(), "too long to take apart");
}

#[test]
fn bytes_that_do_not_fit_are_not_guessed_at() {
    assert!(Decoded::call(&[], None).is_none());
    assert!(Decoded::call(&[0xa9, 0x05, 0x9c, 0xbb], None).is_none(), "a transfer of nothing to nobody");
    assert!(Decoded::call(&[1, 2, 3, 4, 5], None).is_none());
    assert!(Decoded::error(&[]).is_none());
    let mut call = PlatformFees::payCall { source: B256::ZERO, r#ref: B256::ZERO }.abi_encode();
    call.truncate(40);
    assert!(Decoded::call(&call, None).is_none());
}
