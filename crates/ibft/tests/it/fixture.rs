//! The five validators with private keys 1 to 5, and headers they could have made.

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, U256, address, b256};
use chainnet_ibft::extra_data::ExtraData;
use chainnet_ibft::hash::{block_hash, seal_hash};
use chainnet_ibft::rules::{DIFFICULTY, MIX_HASH};
use chainnet_ibft::seal::{Secp256k1Key, ValidatorKey};
use chainnet_ibft::{BaseFee, IbftConfig};

/// Ascending; the private keys are 4, 2, 3, 1, 5.
pub(crate) const VALIDATORS: [Address; 5] = [
    address!("0x1eff47bc3a10a45d4b230b5d10e37751fe6aa718"),
    address!("0x2b5ad5c4795c026514f8317c7a215e218dccd6cf"),
    address!("0x6813eb9362372eef6200f3b1dbc3f819671cba69"),
    address!("0x7e5f4552091a69125d5dfcb7b8c2659029395bdf"),
    address!("0xe1ab8145f7e55dc933d51a18c793f901a3a0b276"),
];

/// Private keys in the order of [`VALIDATORS`].
pub(crate) const SECRETS: [u64; 5] = [4, 2, 3, 1, 5];

pub(crate) fn key(secret: u64) -> Secp256k1Key {
    Secp256k1Key::new(B256::from(U256::from(secret))).unwrap()
}

pub(crate) fn config() -> IbftConfig {
    IbftConfig {
        block_period_secs: 2,
        request_timeout_secs: 4,
        base_fee: BaseFee::Zero,
        ..IbftConfig::default()
    }
}

pub(crate) fn extra(validators: &[Address]) -> ExtraData {
    ExtraData { vanity: B256::ZERO, validators: validators.to_vec(), vote: None, round: 0, seals: vec![] }
}

/// The genesis of the vectors before London.
pub(crate) fn genesis() -> Header {
    Header {
        difficulty: DIFFICULTY,
        gas_limit: 0x1f_ffff_ffff_ffff,
        timestamp: 0x58ee_40ba,
        mix_hash: MIX_HASH,
        extra_data: extra(&VALIDATORS).encode(),
        state_root: b256!("0xaf1343a935fda2fce46dea837de900d48ac8cd4f3ea320694c18bcfb15680d09"),
        ..Header::default()
    }
}

/// An empty block on a parent, built in turn and not yet sealed.
pub(crate) fn child(parent: &Header, coinbase: Address) -> Header {
    Header {
        parent_hash: block_hash(parent).unwrap(),
        beneficiary: coinbase,
        number: parent.number + 1,
        timestamp: parent.timestamp + 2,
        extra_data: extra(&VALIDATORS).encode(),
        base_fee_per_gas: Some(0),
        withdrawals_root: None,
        ..parent.clone()
    }
}

/// The header with the seals of these private keys.
pub(crate) fn sealed(header: &Header, secrets: &[u64]) -> Header {
    let digest = seal_hash(header).unwrap();
    let seals = secrets.iter().map(|&secret| key(secret).sign(digest)).collect();
    let extra = ExtraData { seals, ..ExtraData::decode(&header.extra_data).unwrap() };
    Header { extra_data: extra.encode(), ..header.clone() }
}
