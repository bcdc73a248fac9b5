//! Paying what a run decided: each payment signed once, stored, sent, and followed to its block.

use alloy_primitives::U256;
use alloy_signer_local::PrivateKeySigner;
use alloy_sol_types::SolCall;
use anyhow::{Context, bail, ensure};
use chain::{At, ChainClient};
use contracts::PlatformValidatorRegistry as Registry;
use domain::Wei;
use serde_json::json;
use store::{Db, RewardPayment, RewardRun, RewardTransaction};

use super::{
    super::{
        Desk, Sender,
        plan::Right,
        refusal,
        send::{self, Draft, Signed},
    },
    now, print,
};
use crate::cli::Rewards;

/// The key that pays: the administrator's.
pub(super) async fn payer(desk: &Desk<'_>) -> anyhow::Result<PrivateKeySigner> {
    match desk.sender_with(Right::Admin, false).await? {
        Sender::Key(key) => Ok(key),
        Sender::Safe(safe) => bail!(
            "ADMIN_ROLE is with the treasury's Safe {safe}: pay each line of the plan with `chainnet registry distribute \
             OPERATOR AMOUNT --safe`"
        ),
    }
}

/// Refuses to begin what cannot be paid to the end.
pub(super) async fn check_funds(
    desk: &Desk<'_>,
    key: &PrivateKeySigner,
    amounts: impl Iterator<Item = Wei>,
) -> anyhow::Result<()> {
    let needed = amounts.fold(U256::ZERO, |sum, amount| sum.saturating_add(amount.0));
    let balance = desk.chain.account(key.address(), At::Head).await?.balance;
    ensure!(
        balance > needed,
        "{} has {} coin, and {} are needed, and some for gas",
        key.address(),
        Wei(balance),
        Wei(needed)
    );
    Ok(())
}

/// Pays what is not paid yet of a run.
pub(super) async fn finish(
    desk: &Desk<'_>,
    db: &Db,
    run: &RewardRun,
    rewards: &Rewards,
) -> anyhow::Result<()> {
    let key = payer(desk).await?;
    let payments = db.reward_payments(run.id).await?;
    let open: Vec<_> = payments.iter().filter(|payment| payment.block_number.is_none()).collect();
    check_funds(desk, &key, open.iter().map(|payment| payment.amount)).await?;
    for payment in open {
        pay(desk, db, run, payment, &key).await.with_context(|| {
            format!("{} is not paid yet; the same command goes on where this one stopped", payment.operator)
        })?;
    }
    print::payments(run, &db.reward_payments(run.id).await?, rewards)
}

async fn pay(
    desk: &Desk<'_>,
    db: &Db,
    run: &RewardRun,
    payment: &RewardPayment,
    key: &PrivateKeySigner,
) -> anyhow::Result<()> {
    let signed = match &payment.transaction {
        Some(former) if !is_lost(desk, former).await? => {
            Signed { raw: former.raw.clone(), hash: former.hash }
        }
        former => sign(desk, db, run, (payment, former.as_ref()), key).await?,
    };
    let mined = send::deliver(&desk.chain, signed).await?;
    if let Some(reason) = &mined.reverted {
        let reason = refusal::in_words(reason.as_ref());
        bail!("the registry refused transaction {} in block {}: {reason}", mined.hash, mined.block);
    }
    db.settle_reward((run.id, payment.operator), (mined.hash, mined.block), now()).await?;
    Ok(())
}

/// Whether a transaction can never pay: another one took its nonce, or the registry refused it.
async fn is_lost(desk: &Desk<'_>, former: &RewardTransaction) -> anyhow::Result<bool> {
    // In this order: what is mined by then is found after it.
    let head = desk.chain.heads().borrow().as_ref().map_or(0, |head| head.number());
    let mined = desk.chain.account(former.signer, At::Number(head)).await?.nonce;
    Ok(match send::find(&desk.chain, former.hash).await? {
        Some(found) => found.reverted.is_some(),
        None => mined > former.nonce,
    })
}

async fn sign(
    desk: &Desk<'_>,
    db: &Db,
    run: &RewardRun,
    (payment, former): (&RewardPayment, Option<&RewardTransaction>),
    key: &PrivateKeySigner,
) -> anyhow::Result<Signed> {
    let nonce = send::next_nonce(&desk.chain, key.address()).await?;
    let (operator, amount) = (payment.operator, payment.amount.0);
    let input = Registry::distributeRewardsCall { operator, amount }.abi_encode();
    let request = json!([{
        "from": key.address(),
        "to": desk.registry,
        "value": format!("{amount:#x}"),
        "data": alloy_primitives::Bytes::from(input.clone()),
    }]);
    let gas = desk.try_out("eth_estimateGas", &request).await?;
    let gas: U256 = serde_json::from_value(gas).context("the node's estimate is not understood")?;
    let gas = u64::try_from(gas).unwrap_or(u64::MAX);
    let draft = Draft { to: desk.registry, value: amount, input: input.into(), gas };
    let signed = send::sign(&desk.chain, key, nonce, draft).await?;
    let stored =
        RewardTransaction { signer: key.address(), nonce, raw: signed.raw.clone(), hash: signed.hash };
    let former = former.map(|former| former.hash);
    let is_ours = db.sign_reward((run.id, operator), former, &stored, now()).await?;
    ensure!(is_ours, "another process pays these rewards at the same time");
    Ok(signed)
}
