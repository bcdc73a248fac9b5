//! `chainnet send`: coin from an account of the network's operator, such as for a stake on a testnet.

use alloy_primitives::{Bytes, U256};
use alloy_signer_local::PrivateKeySigner;
use anyhow::{Context, bail, ensure};
use chain::{At, ChainClient, RawUpstream};
use domain::{Network, Wei};
use serde_json::{Map, Value, json};

use super::{
    nodes,
    registry::send::{self, Draft},
};
use crate::{
    cli::{Payer, SendCoin},
    config::{Config, SecretKey},
    keys,
    output::say,
    runtime, wiring,
};

/// Sends coin.
pub(crate) fn run(config: &Config, options: &SendCoin) -> anyhow::Result<()> {
    if config.network == Network::Mainnet && !options.mainnet {
        bail!("coin of the mainnet has a price; --mainnet sends it all the same");
    }
    ensure!(!options.amount.0.is_zero(), "there is nothing to send");
    runtime::run_small(async {
        let chain = nodes::connect(config).await?;
        let key = key(config, options.from)?;
        let nonce = match options.dry_run {
            true => 0,
            false => send::next_nonce(&chain, key.address()).await?,
        };
        let balance = chain.account(key.address(), At::Head).await?.balance;
        ensure!(
            balance > options.amount.0,
            "{} has {} coin, which is not enough for {} and gas",
            key.address(),
            Wei(balance),
            options.amount
        );
        let before = chain.account(options.to, At::Head).await?.balance;
        let gas = estimate(&**chain.inner(), &key, options).await?;
        let mut view: Map<String, Value> = [
            ("from", json!(key.address().to_string())),
            ("to", json!(options.to.to_string())),
            ("amount", json!(options.amount.to_string())),
            ("amountWei", json!(options.amount.0.to_string())),
            ("balanceBefore", json!(Wei(before).to_string())),
            ("sent", json!(!options.dry_run)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect();
        if options.dry_run {
            return print(&view, "nothing was sent", options.json);
        }
        let draft = Draft { to: options.to, value: options.amount.0, input: Bytes::new(), gas };
        let mined = send::send(&chain, &key, nonce, draft).await?;
        if mined.reverted.is_some() {
            bail!(
                "transaction {} in block {} was undone: the account does not take coin",
                mined.hash,
                mined.block
            );
        }
        let after = Wei(chain.account(options.to, At::Head).await?.balance).to_string();
        view.insert("transaction".to_owned(), json!(mined.hash));
        view.insert("block".to_owned(), json!(mined.block));
        view.insert("balanceAfter".to_owned(), json!(after));
        print(&view, "sent", options.json)
    })
}

fn key(config: &Config, from: Payer) -> anyhow::Result<PrivateKeySigner> {
    let (key, name) = match from {
        Payer::Admin => {
            let own = config.registry_key.as_ref().map(SecretKey::expose);
            (
                own.map_or_else(|| keys::admin_key(config.network, &config.data), |key| Ok(Some(key)))?,
                "REGISTRY_KEY",
            )
        }
        Payer::Faucet => (wiring::faucet_key(config)?, "FAUCET_KEY"),
    };
    let key = key.with_context(|| format!("there is no key to sign with: name one with {name}"))?;
    PrivateKeySigner::from_bytes(&key).with_context(|| format!("{name} is not a key"))
}

async fn estimate(
    upstream: &dyn RawUpstream,
    key: &PrivateKeySigner,
    options: &SendCoin,
) -> anyhow::Result<u64> {
    let value = format!("{:#x}", options.amount.0);
    let request = json!([{ "from": key.address(), "to": options.to, "value": value }]);
    match nodes::ask(upstream, "eth_estimateGas", &request).await? {
        Ok(gas) => {
            let gas: U256 = serde_json::from_value(gas).context("the node's estimate is not understood")?;
            Ok(u64::try_from(gas).unwrap_or(u64::MAX))
        }
        Err(refused) => bail!("{} does not take coin: {}", options.to, refused.message),
    }
}

fn print(view: &Map<String, Value>, heading: &str, json: bool) -> anyhow::Result<()> {
    if json {
        say(serde_json::to_string_pretty(view)?);
        return Ok(());
    }
    for (name, value) in view.iter().filter(|(name, _)| *name != "sent") {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        say(format!("{name:<14} {text}"));
    }
    say(heading);
    Ok(())
}
