//! The secrets of the portal: both or none, and those that the database was filled with.

use std::fs;

use alloy_primitives::B256;
use domain::Network;
use store::Db;
use webhooks::SealingKeys;

use crate::{
    config::{Config, SecretKey},
    finding::Finding,
};

/// The version of the only sealing key that can be configured.
const FIRST_VERSION: u8 = 1;

/// The portal's two secrets.
pub(super) async fn secrets(config: &Config, db: Option<&Db>) -> Finding {
    let pepper = secret(config, config.portal.pepper.as_ref(), "pepper");
    let sealing = secret(config, config.portal.webhook_key.as_ref(), "webhook");
    let key = match (pepper, sealing) {
        (Some(_), Some(key)) => key,
        (None, None) if config.network == Network::Devnet => {
            return Finding::ok("portal", "its secrets are made when it first starts");
        }
        (None, None) => {
            let advice = "set PORTAL_PEPPER and WEBHOOK_KEY if this network is to have a portal";
            return Finding::warn("portal", "there is none: its secrets are not set", advice);
        }
        (Some(_), None) => return half("PORTAL_PEPPER is set and WEBHOOK_KEY is not"),
        (None, Some(_)) => return half("WEBHOOK_KEY is set and PORTAL_PEPPER is not"),
    };
    let Some(db) = db else { return Finding::ok("portal", "it has both of its secrets") };
    match fits(db, key).await {
        Ok(true) => {
            Finding::ok("portal", "it has both of its secrets, and they open what the database holds")
        }
        Ok(false) => Finding::fail(
            "portal",
            "the secrets of webhooks in the database are sealed with another WEBHOOK_KEY",
            "set the WEBHOOK_KEY that the database was filled with",
        ),
        Err(error) => Finding::fail("portal", format!("{error:#}"), "look into the database's log"),
    }
}

/// What the coin costs; nothing where there is no portal.
pub(super) async fn rate(config: &Config, db: &Db) -> Option<Finding> {
    secret(config, config.portal.pepper.as_ref(), "pepper")?;
    Some(match db.find_rate().await {
        Ok(Some(row)) => Finding::ok("rate", format!("a coin costs Rp {}", row.rate)),
        Ok(None) => Finding::warn(
            "rate",
            "there is none, so that no invoice can be paid",
            "say what a coin costs: `chainnet rate set RUPIAH`",
        ),
        Err(error) => Finding::fail("rate", error.to_string(), "look into the database's log"),
    })
}

fn half(found: &'static str) -> Finding {
    Finding::fail("portal", found, "set both, the same in every process")
}

/// A secret that is configured or in the data directory. Makes none.
fn secret(config: &Config, given: Option<&SecretKey>, name: &str) -> Option<B256> {
    let kept = || fs::read_to_string(config.data.join("keys").join(name)).ok()?.trim().parse().ok();
    given.map(SecretKey::expose).or_else(kept)
}

/// Whether the key opens a secret of the database; true where there is none.
async fn fits(db: &Db, key: B256) -> anyhow::Result<bool> {
    let Some((wallet, sealed)) = db.find_any_webhook_secret().await? else { return Ok(true) };
    Ok(SealingKeys::new([(FIRST_VERSION, key.0)])?.open(wallet, &sealed).is_ok())
}
