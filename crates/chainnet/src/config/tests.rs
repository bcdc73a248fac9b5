//! Which layer counts, and how everything that is wrong is told.

use std::{collections::BTreeMap, ffi::OsString, fs};

use tempfile::TempDir;

use super::*;

/// A configuration with these flags, variables and this `chainnet.toml`.
fn load(flags: &[(&str, &str)], env: &[(&str, &str)], file: &str) -> Result<Config, ConfigError> {
    let folder = TempDir::new().unwrap();
    if !file.is_empty() {
        fs::write(folder.path().join("chainnet.toml"), file).unwrap();
    }
    Config::load(given(flags, env), folder.path())
}

fn given(flags: &[(&str, &str)], env: &[(&str, &str)]) -> Given {
    Given {
        flags: flags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        env: env.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect(),
    }
}

fn refused(flags: &[(&str, &str)], env: &[(&str, &str)], file: &str) -> Vec<String> {
    load(flags, env, file).unwrap_err().problems.iter().map(ToString::to_string).collect()
}

fn source_of<'a>(config: &'a Config, key: &str) -> &'a Source {
    &config.effective().iter().find(|setting| setting.about.key == key).unwrap().source
}

#[test]
fn the_defaults_are_those_of_the_specification() {
    let config = load(&[], &[], "").unwrap();
    assert_eq!(config.network, Network::Devnet);
    assert_eq!(config.api.listen, "127.0.0.1:4000".parse().unwrap());
    assert_eq!(config.api.rate_limit.get(), 100);
    assert_eq!(config.api.cors, Origins::Any);
    assert_eq!(config.nodes, []);
    assert_eq!(config.database.expose(), "sqlite:data/devnet/chainnet.db");
    assert!(config.mail.is_none());
    assert_eq!(config.gateway.listen, "127.0.0.1:8540".parse().unwrap());
    assert_eq!((config.gateway.rate_limit.get(), config.access.key_rate_limit.get()), (300, 600));
    assert_eq!(config.faucet.listen, "127.0.0.1:4001".parse().unwrap());
    assert_eq!((config.faucet.daily_cap, &config.faucet.key), (Wei::from_coin(100_000), &None));
    assert_eq!((&config.access.internal, &config.access.redis), (&InternalAllowlist::default(), &None));
    let mainnet = load(&[], &[("PLATFORM_NETWORK", "mainnet")], "").unwrap();
    assert_eq!(mainnet.api.rate_limit.get(), 200);
    assert_eq!(mainnet.api.cors, Origins::Only(vec!["http://127.0.0.1:3000".to_owned()]));
    let testnet = load(&[("network", "testnet")], &[], "").unwrap();
    assert_eq!((testnet.node.rpc.port(), testnet.api.rate_limit.get()), (8565, 100));
    assert_eq!((testnet.gateway.listen.port(), mainnet.gateway.listen.port()), (8555, 8540));
}

#[test]
fn any_page_may_use_a_public_gateway_and_a_private_one_is_its_operators() {
    let gateway = |variables: &[(&'static str, &'static str)]| load(&[], variables, "").unwrap().gateway.cors;
    let only = |origin: &str| Origins::Only(vec![origin.to_owned()]);
    let origins = ("CORS_ORIGINS", "https://pages.example");
    for network in ["testnet", "mainnet"] {
        let network = ("PLATFORM_NETWORK", network);
        assert_eq!(gateway(&[network, origins]), Origins::Any);
        let own = ("GATEWAY_CORS_ORIGINS", "https://own.example");
        assert_eq!(gateway(&[network, origins, own]), only("https://own.example"));
    }
    assert_eq!(gateway(&[origins]), only("https://pages.example"));
    assert_eq!(gateway(&[]), Origins::Any);
}

#[test]
fn a_flag_wins_over_a_variable_over_the_file_over_the_default() {
    let file = "[api]\nport = 1\n";
    let config = load(&[("api-port", "3")], &[("API_PORT", "2")], file).unwrap();
    assert_eq!((config.api.listen.port(), source_of(&config, "api.port")), (3, &Source::Flag("api-port")));
    let config = load(&[], &[("API_PORT", "2")], file).unwrap();
    assert_eq!((config.api.listen.port(), source_of(&config, "api.port")), (2, &Source::Env("API_PORT")));
    let config = load(&[], &[("API_PORT", "")], file).unwrap();
    let in_file = Source::File("chainnet.toml".to_owned(), 2);
    assert_eq!((config.api.listen.port(), source_of(&config, "api.port")), (1, &in_file));
}

#[test]
fn every_setting_can_be_given_in_every_way_and_is_taken_once_in_order() {
    let config = load(&[], &[], "").unwrap();
    let taken: Vec<_> = config.effective().iter().map(|setting| setting.about.key).collect();
    assert_eq!(taken, SETTINGS.map(|about| about.key));
    let names: std::collections::BTreeSet<_> =
        SETTINGS.iter().flat_map(|about| [about.key, about.env, about.flag]).collect();
    assert!(names.len() >= 2 * SETTINGS.len(), "names are told apart");
}

#[test]
fn a_list_is_an_array_in_the_file() {
    let file = r#"
[chain]
rpc_url = ["http://a:8545", "https://b/key"]
[api]
trusted_proxies = ["10.0.0.0/8"]
cors_origins = []
[access]
internal_allowlist = []
"#;
    let config = load(&[], &[], file).unwrap();
    assert_eq!(config.nodes.len(), 2);
    assert_eq!(config.api.trusted_proxies, ["10.0.0.0/8".parse().unwrap()]);
    assert_eq!(config.api.cors, Origins::Only(Vec::new()));
    assert_eq!(config.access.internal, InternalAllowlist::new(Vec::new()));
}

#[test]
fn all_problems_are_told_at_once_with_key_source_and_what_is_allowed() {
    let file = "colour = \"red\"\n\n[api]\nprot = 4000\nhost = \"nowhere\"\nrate_limit_max = { a = 1 }\n";
    let problems = refused(
        &[("network", "moonnet"), ("api-port", "70000")],
        &[("API_PORT", "http"), ("RATE_LIMIT_MAX", "0"), ("SMTP_URL", "smtp://mail")],
        file,
    );
    let expected: &[&[&str]] = &[
        &["chainnet.toml line 1", "unknown key `colour`", "network, data"],
        &["chainnet.toml line 4", "unknown key `api.prot`", "port"],
        &["chainnet.toml line 6", "`api.rate_limit_max` has a value of the wrong type"],
        &["network (flag --network)", "`moonnet`", "devnet, testnet, mainnet"],
        &["api.host (chainnet.toml line 5)", "`nowhere`", "IPv4 or IPv6"],
        &["api.port (flag --api-port)", "`70000`", "0 to 65535"],
        &["api.port (variable API_PORT)", "`http`", "0 to 65535"],
        &["api.rate_limit_max (variable RATE_LIMIT_MAX)", "`0`", "1 or more"],
        &["mail.from (SMTP_FROM)", "missing"],
    ];
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
    for words in expected {
        assert!(
            problems.iter().any(|problem| words.iter().all(|word| problem.contains(word))),
            "{words:?} is missing from {problems:#?}"
        );
    }
}

#[test]
fn a_refused_secret_is_not_quoted() {
    for variable in ["DATABASE_URL", "SMTP_URL", "PLATFORM_RPC_URL", "REDIS_URL", "FAUCET_KEY"] {
        let problems = refused(&[], &[(variable, "mysql://root:hunter2@db")], "");
        assert!(problems[0].contains(variable) && !problems[0].contains("hunter2"), "{problems:?}");
    }
}

#[test]
fn a_file_that_is_named_must_be_there_and_be_toml() {
    let problems = refused(&[("config", "nowhere.toml")], &[], "");
    assert!(problems[0].contains("nowhere.toml"), "{problems:?}");
    let problems = refused(&[], &[], "[api\nport = 1");
    assert!(problems[0].contains("chainnet.toml line 1"), "{problems:?}");
    let problems = refused(&[], &[], "[api]\nport = 1\nport = 2\n");
    assert!(problems[0].contains("line 3"), "{problems:?}");
}

#[test]
fn a_value_that_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStringExt;
    let mut given = given(&[], &[]);
    given.env = BTreeMap::from([("API_HOST".to_owned(), OsString::from_vec(vec![0xff]))]);
    let error = Config::load(given, Path::new("")).unwrap_err();
    assert!(error.to_string().contains("API_HOST") && error.to_string().contains("UTF-8"), "{error}");
}

#[test]
fn a_bad_record_is_told_together_with_other_problems() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_str().unwrap();
    let problems = refused(&[], &[("PLATFORM_DEPLOYMENTS", path), ("API_PORT", "x")], "");
    assert!(problems.len() == 2 && problems.iter().any(|p| p.contains("devnet.json")), "{problems:?}");
}

#[test]
fn the_record_names_the_node_unless_somebody_else_does() {
    let folder = TempDir::new().unwrap();
    let record = include_str!("../../../../deployments/devnet.json")
        .replace("\"rpcUrl\": null", "\"rpcUrl\": \"http://besu-1:8545\"");
    fs::write(folder.path().join("devnet.json"), record).unwrap();
    let path = folder.path().to_str().unwrap();
    let config = load(&[("deployments", path)], &[], "").unwrap();
    assert_eq!(config.nodes[0].to_string(), "http://besu-1:8545");
    assert_eq!(source_of(&config, "chain.rpc_url"), &Source::Deployment);
    let config = load(&[("deployments", path)], &[("PLATFORM_RPC_URL", "http://other:1")], "").unwrap();
    assert_eq!(config.nodes[0].to_string(), "http://other:1");
}
