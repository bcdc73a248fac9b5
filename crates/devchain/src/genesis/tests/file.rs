//! Reading, writing and hashing genesis files.

use alloy_primitives::{Address, B256, address, b256};

use super::chain::spec;
use crate::genesis::{Fork, Genesis, GenesisError};

/// Keys 1 to 5, one funded account: the vectors that were computed for this set.
fn known(config: &str, base_fee: &str) -> String {
    format!(
        r#"{{
            "config": {{ "chainId": 2018, {config}, "ibft2": {{ "blockPeriodSeconds": 2, "epochlength": "0x7530" }} }},
            "nonce": "0x0", "timestamp": "0x58ee40ba", "gasLimit": "0x1fffffffffffff", "difficulty": "0x1",
            "mixHash": "0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365",
            "coinbase": "0x0000000000000000000000000000000000000000", {base_fee}
            "extraData": "0xf893a00000000000000000000000000000000000000000000000000000000000000000f869941eff47bc3a10a45d4b230b5d10e37751fe6aa718942b5ad5c4795c026514f8317c7a215e218dccd6cf946813eb9362372eef6200f3b1dbc3f819671cba69947e5f4552091a69125d5dfcb7b8c2659029395bdf94e1ab8145f7e55dc933d51a18c793f901a3a0b276808400000000c0",
            "alloc": {{ "Fe3B557E8Fb62b89F4916B721be55cEb828dBd73": {{ "balance": "0xad78ebc5ac6200000", "comment": "ignored" }} }}
        }}"#
    )
}

fn hash(text: &str) -> B256 {
    let genesis = Genesis::from_json(text).unwrap();
    let root = genesis.state_root();
    assert_eq!(root, b256!("af1343a935fda2fce46dea837de900d48ac8cd4f3ea320694c18bcfb15680d09"));
    genesis.header(root).hash_slow()
}

#[test]
fn block_0_has_the_hash_besu_gives_it() {
    let london = r#""londonBlock": 0, "zeroBaseFee": true"#;
    let shanghai = r#""londonBlock": 0, "shanghaiTime": 0"#;
    assert_eq!(
        hash(&known(london, "")),
        b256!("9946a1849c43b1a2d5215ef7792d57b518a6fad784e95c3975e3f88b9f5d5959")
    );
    assert_eq!(
        hash(&known(london, r#""baseFeePerGas": "0x0","#)),
        b256!("ad89c92bc702772e561a2d3f9c3b66b6e44202b5bc6ead7608c23014689810f4")
    );
    assert_eq!(
        hash(&known(shanghai, "")),
        b256!("cbf769adab97584cc2e01ef97a87bde9ce98c8246ae72ead1e30b4a95d108e9c")
    );
}

#[test]
fn keys_are_read_in_any_case_and_numbers_in_any_form() {
    let genesis = Genesis::from_json(&known(r#""LONDONBLOCK": "0x0""#, "")).unwrap();
    assert_eq!(genesis.config.chain_id, 2018);
    assert_eq!(genesis.config.fork, Fork::London);
    let ibft = genesis.ibft_config();
    assert_eq!((ibft.block_period_secs, ibft.epoch_length, ibft.request_timeout_secs), (2, 30_000, 1));
    assert_eq!(genesis.validators().unwrap().len(), 5);
    let funded = address!("fe3b557e8fb62b89f4916b721be55ceb828dbd73");
    assert!(genesis.alloc.contains_key(&funded));
}

#[test]
fn a_genesis_survives_being_written_and_read() {
    for fork in [Fork::London, Fork::Shanghai] {
        let mut genesis = spec(fork).build().unwrap();
        genesis.config.contract_size_limit = Some(50_000);
        genesis.config.ibft2.block_reward = "7".parse().unwrap();
        genesis.config.ibft2.mining_beneficiary = Some(Address::repeat_byte(1));
        let text = genesis.to_json().unwrap();
        assert_eq!(Genesis::from_json(&text).unwrap(), genesis);
        assert!(text.starts_with("{\n  \"config\": {\n    \"chainId\": 8845,\n    \"londonBlock\": 0,"));
        assert!(text.contains("\"0xca11bde05977b3631167028862be2a173976ca11\": {"));
    }
}

#[test]
fn storage_is_hexadecimal_of_any_length_and_zero_slots_are_dropped() {
    let text = known(r#""londonBlock": 0"#, "").replace(
        r#""comment": "ignored""#,
        r#""nonce": "0x1", "code": "0x6001", "storage": { "0x1": "0x10", "02": "0x00", "0a": "ff" }"#,
    );
    let genesis = Genesis::from_json(&text).unwrap();
    let account = genesis.alloc.values().next().unwrap();
    assert_eq!(account.nonce, Some(1));
    let slots: Vec<_> =
        account.storage_slots().map(|(slot, value)| (slot.0[31], value.to::<u64>())).collect();
    assert_eq!(slots, [(1, 16), (10, 255)]);
}

#[test]
fn cancun_is_there_from_the_start_or_comes_later() {
    let forks = r#""londonBlock": 0, "shanghaiTime": 0"#;
    let read = |config: &str| Genesis::from_json(&known(config, "")).unwrap();
    let first = read(&format!(r#"{forks}, "cancunTime": 0"#));
    assert_eq!((first.config.fork, first.config.cancun_time), (Fork::Cancun, None));
    let header = first.header(B256::ZERO);
    let blobs = (header.blob_gas_used, header.excess_blob_gas, header.parent_beacon_block_root);
    assert_eq!(blobs, (Some(0), Some(0), Some(B256::ZERO)));
    let later = read(&format!(r#"{forks}, "cancunTime": 99999999999"#));
    assert_eq!((later.config.fork, later.config.cancun_time), (Fork::Shanghai, Some(99_999_999_999)));
    assert_eq!(later.header(B256::ZERO).blob_gas_used, None);
    for genesis in [first, later] {
        assert_eq!(Genesis::from_json(&genesis.to_json().unwrap()).unwrap(), genesis);
    }
    let alone = error(r#""londonBlock": 0, "cancunTime": 0"#);
    assert!(matches!(alone, GenesisError::CancunWithoutShanghai { activation: 0 }), "{alone}");
}

fn error(config: &str) -> GenesisError {
    Genesis::from_json(&known(config, "")).unwrap_err()
}

#[test]
fn settings_of_another_chain_are_refused_by_name() {
    for unsupported in [
        r#""pragueTime": 0"#,
        r#""terminalTotalDifficulty": 0"#,
        r#""qbft": {}"#,
        r#""clique": {}"#,
        r#""transitions": {}"#,
        r#""fixedBaseFee": true"#,
        r#""ecCurve": "secp256r1""#,
    ] {
        let key = unsupported.split('"').nth(1).unwrap().to_lowercase();
        let error = error(&format!(r#""londonBlock": 0, {unsupported}"#));
        assert!(matches!(&error, GenesisError::Unsupported { key: named } if *named == key), "{error}");
    }
    let sub_second = known(r#""londonBlock": 0"#, "").replace("epochlength", "xBlockPeriodMilliseconds");
    let error = Genesis::from_json(&sub_second).unwrap_err();
    assert_eq!(error.to_string(), "`config.ibft2.xblockperiodmilliseconds` is not supported");
}

#[test]
fn forks_must_be_in_force_at_genesis() {
    let late = |error: GenesisError, name: &str| {
        assert!(matches!(&error, GenesisError::ForkAfterGenesis { key, .. } if key == name), "{error}");
    };
    late(error(r#""londonBlock": 10"#), "londonblock");
    late(error(r#""londonBlock": 0, "berlinBlock": 1"#), "berlinblock");
    late(error(r#""londonBlock": 0, "shanghaiTime": 4000000000"#), "shanghaitime");
    assert!(matches!(error(r#""berlinBlock": 0"#), GenesisError::MissingKey { key: "config.londonblock" }));
}

#[test]
fn a_broken_file_is_refused_with_the_key_that_is_wrong() {
    let good = known(r#""londonBlock": 0"#, "");
    let error = |from: &str, to: &str| Genesis::from_json(&good.replace(from, to)).unwrap_err().to_string();
    assert_eq!(error("{", "["), "the genesis is not valid JSON");
    assert_eq!(error("\"gasLimit\"", "\"gas\""), "key `gaslimit` is missing");
    assert_eq!(error("\"nonce\": \"0x0\"", "\"GASLIMIT\": 1"), "key `gaslimit` occurs twice");
    assert_eq!(
        error("\"0x58ee40ba\"", "\"0x10000000000000000\""),
        "18446744073709551616 is out of range for `timestamp`"
    );
    assert_eq!(
        error("\"blockPeriodSeconds\": 2", "\"blockPeriodSeconds\": 0"),
        "0 is out of range for `blockperiodseconds`"
    );
    assert_eq!(
        error("\"londonBlock\": 0", "\"londonBlock\": 0, \"chainID\": 1"),
        "key `chainid` occurs twice"
    );
    assert_eq!(error("2018", "{}"), "the value of `chainid` is malformed");
    assert_eq!(error("808400000000c0", "80"), "the extra data is not IBFT 2.0 extra data");
}
