//! Accounts whose transactions wait and are not mined.

use std::collections::BTreeSet;

use alloy_primitives::Address;
use chain::{At, ChainClient, NonceProgress};

use super::chain::next_head;

/// An account that had another nonce so many blocks ago has sent something since.
const LATELY: u64 = 10;

/// Why an account's transactions do not move, if they do not. Only an account that looks like it is watched, for some blocks.
pub(super) async fn stuck(client: &dyn ChainClient, account: Address) -> anyhow::Result<Option<String>> {
    let Some(mut head) = client.heads().borrow().clone() else { return Ok(None) };
    let former = client.account(account, At::Number(head.number().saturating_sub(LATELY))).await?.nonce;
    let mut progress = NonceProgress::default();
    loop {
        let mined = client.account(account, At::Number(head.number())).await?.nonce;
        let state = progress.observe(head.number(), mined, client.pending_nonce(account).await?);
        if state.pending <= mined || mined != former {
            return Ok(None);
        }
        if state.missing(&BTreeSet::new()).is_some() {
            let last = state.pending.saturating_sub(1);
            return Ok(Some(format!(
                "its transactions do not move: some wait up to nonce {last}, and the next to be mined, nonce {mined}, is \
                 missing or refused"
            )));
        }
        // A chain that stands still has a check of its own.
        match next_head(client, head.number()).await {
            Some(next) => head = next,
            None => return Ok(None),
        }
    }
}
