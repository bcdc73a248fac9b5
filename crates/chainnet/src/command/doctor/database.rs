//! The database, the index in it, and the sums of fees against the contract's own.

use std::sync::Arc;

use access::{PlaceholderError, settle_placeholders};
use chain::{At, ChainClient, Head, contract};
use contracts::PlatformFees::getTotalsCall;
use domain::Network;
use faucet::{FaucetSettings, STUCK_PAYMENT_BLOCKS};
use jiff::Timestamp;
use store::{
    Db, OpenError,
    index::{ChainIdentity, FeeTotals},
};

use super::portal;
use crate::{config::Config, finding::Finding, process};

/// An index this close is following.
const CLOSE_BLOCKS: u64 = 10;

/// The database and everything in it.
pub(super) async fn examine(
    config: &Config,
    chain: Option<(Arc<dyn ChainClient>, Arc<Head>)>,
    now: Timestamp,
) -> Vec<Finding> {
    let db = match process::open_database(config).await {
        Ok(db) => db,
        Err(error) => return vec![unusable(&error), portal::secrets(config, None).await],
    };
    let found = format!("{} answers, tables are up to date", config.database.masked());
    let mut findings = vec![Finding::ok("database", found)];
    if let Some((client, head)) = chain {
        findings.push(index(&db, &*client, &head).await);
        findings.push(fees(config, &db, &*client).await);
        findings.extend(payments(config, &db, &head).await);
    }
    findings.push(placeholders(config, &db, now).await);
    findings.push(portal::secrets(config, Some(&db)).await);
    findings.extend(portal::rate(config, &db).await);
    db.close().await;
    findings
}

fn unusable(error: &anyhow::Error) -> Finding {
    let advice = match error.downcast_ref::<OpenError>() {
        Some(OpenError::Newer { .. }) => "run the version of chainnet that wrote it, or a newer one",
        Some(OpenError::Altered { .. }) => "restore a backup: somebody has changed the tables",
        Some(OpenError::Migration(_)) => "look into the database's log, or restore a backup",
        Some(OpenError::UnknownEngine | OpenError::Url(_)) => "correct DATABASE_URL",
        Some(OpenError::Unreachable(_)) | None => "start the database, or name another with DATABASE_URL",
    };
    Finding::fail("database", format!("{error:#}"), advice)
}

/// Whose the index is, and how far it is behind the chain.
async fn index(db: &Db, client: &dyn ChainClient, head: &Head) -> Finding {
    match compare_index(db, client, head).await {
        Ok(finding) => finding,
        Err(error) => Finding::fail("index", format!("{error:#}"), "look into the database's log"),
    }
}

async fn compare_index(db: &Db, client: &dyn ChainClient, head: &Head) -> anyhow::Result<Finding> {
    let (Some(indexed), Some(of)) = (db.index_head().await?, db.index_chain().await?) else {
        return Ok(Finding::warn("index", "there is none yet", "start `chainnet up` or `chainnet worker`"));
    };
    let genesis = client.block(0).await?.map(|block| block.hash);
    let chain_id = client.chain_id().await?;
    let is_same = of.chain_id == chain_id && genesis.is_none_or(|hash| hash == of.genesis_hash);
    let block = client.block(indexed.number).await?;
    let is_on_it = block.is_none_or(|block| block.hash == indexed.hash);
    if !is_same || !is_on_it {
        let ChainIdentity { chain_id: other, genesis_hash } = of;
        let found = format!("of another chain: its chain id is {other}, its genesis {genesis_hash}");
        let advice =
            "name the database of this chain with DATABASE_URL, or drop the index and build it again";
        return Ok(Finding::fail("index", found, advice));
    }
    Ok(lag(indexed.number, head.number()))
}

/// How far the index is behind the chain.
fn lag(indexed: u64, head: u64) -> Finding {
    let behind = head.saturating_sub(indexed);
    let found = format!("at block {indexed}, {behind} behind the chain");
    if indexed > head.saturating_add(CLOSE_BLOCKS) {
        let found = format!("at block {indexed}, but the chain is at {head}");
        Finding::fail("index", found, "the node is behind, or of another chain than the index")
    } else if behind > CLOSE_BLOCKS {
        Finding::warn("index", found, "wait if a worker is catching up, otherwise start one")
    } else {
        Finding::ok("index", found)
    }
}

/// The index's sums of fees and burns against the contract's own counters, at the same block.
async fn fees(config: &Config, db: &Db, client: &dyn ChainClient) -> Finding {
    match compare_fees(config, db, client).await {
        Ok(finding) => finding,
        Err(error) => {
            Finding::fail("fees", format!("cannot be compared: {error:#}"), "look into the node's log")
        }
    }
}

async fn compare_fees(config: &Config, db: &Db, client: &dyn ChainClient) -> anyhow::Result<Finding> {
    let FeeTotals { as_of_block: Some(block), total, .. } = db.fee_totals().await? else {
        let advice = "start `chainnet up` or `chainnet worker`";
        return Ok(Finding::warn("fees", "nothing is indexed yet", advice));
    };
    let fees = config.deployment().contracts.platform_fees;
    let counter = contract::call(client, fees, &getTotalsCall {}, At::Number(block)).await?;
    let counted = (counter.count, counter.paid, counter.burned, counter.held);
    let indexed = (total.payments, total.collected.0, total.burned.0, total.held.0);
    let of = |(payments, paid, burned, _): (u64, _, _, _)| {
        format!("{payments} payments of {}, {} of it burned", domain::Wei(paid), domain::Wei(burned))
    };
    if counted == indexed {
        let found = format!("{}, as the contract counts them at block {block}", of(counted));
        return Ok(Finding::ok("fees", found));
    }
    let found = format!("at block {block} the index has {}, the contract {}", of(indexed), of(counted));
    Ok(Finding::fail("fees", found, "the index is wrong: drop it and let a worker build it again"))
}

/// Whether the faucet's claims are paid; nothing where there is no faucet.
async fn payments(config: &Config, db: &Db, head: &Head) -> Option<Finding> {
    match config.network {
        Network::Devnet | Network::Testnet => {}
        Network::Mainnet => return None,
    }
    let open = match db.list_open_claims(FaucetSettings::default().open_claims).await {
        Ok(open) => open,
        Err(error) => {
            let found = format!("{:#}", anyhow::Error::from(error));
            return Some(Finding::fail("payments", found, "look into the database's log"));
        }
    };
    let signed = open.iter().filter_map(|claim| claim.payment.as_ref());
    let oldest = signed.min_by_key(|payment| payment.signed_block);
    let waited = oldest.map_or(0, |payment| head.number().saturating_sub(payment.signed_block));
    let found = match oldest {
        None => "no claim waits to be paid".to_owned(),
        Some(payment) => format!(
            "{} claims wait to be paid, one of them for {waited} blocks: nonce {} of {}",
            open.len(),
            payment.nonce,
            payment.payer
        ),
    };
    if waited < STUCK_PAYMENT_BLOCKS {
        return Some(Finding::ok("payments", found));
    }
    let advice = "the faucet's log says why; see docs/operations.md, \"Transactions that do not move\"";
    Some(Finding::fail("payments", found, advice))
}

/// Keys that everybody knows may open the devnet alone.
async fn placeholders(config: &Config, db: &Db, now: Timestamp) -> Finding {
    let network = config.network;
    match network {
        Network::Devnet => return Finding::ok("placeholders", "a devnet may have keys that everybody knows"),
        Network::Testnet | Network::Mainnet => {}
    }
    match settle_placeholders(db, network, now).await {
        Ok(_) => Finding::ok("placeholders", "no key of the gateway is one that everybody knows"),
        Err(error @ PlaceholderError::Present { .. }) => Finding::fail(
            "placeholders",
            error.to_string(),
            "revoke it and issue a key of its own to the team",
        ),
        Err(error @ PlaceholderError::Store(_)) => {
            let found = format!("{:#}", anyhow::Error::from(error));
            Finding::fail("placeholders", found, "look into the database's log")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;

    #[test]
    fn an_index_may_lag_but_not_lead() {
        assert_eq!(lag(100, 101).verdict, Verdict::Ok);
        assert_eq!(lag(100, 200).verdict, Verdict::Warn);
        // The head that was read first may be older than the index that was read after it.
        assert_eq!(lag(201, 200).verdict, Verdict::Ok);
        assert_eq!(lag(300, 200).verdict, Verdict::Fail);
    }
}
