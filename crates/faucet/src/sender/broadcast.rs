//! Giving nodes the transactions: each once per head until it is mined, lowest nonce first.

use std::sync::Arc;

use alloy_primitives::{B256, Bytes};
use chain::{ChainClient, Fees, Rejection, SendError, Sent};
use domain::{ClaimState, Wei};
use futures_util::{FutureExt, StreamExt, stream::FuturesOrdered};
use store::{ClaimRow, PaymentRow};

use super::{Memory, Round, Sender, Trouble, nonce};

/// Transactions on their way to the nodes at the same time. Few, because nodes like nonces in order.
const AT_ONCE: usize = 8;
/// Gaps between nonces that are filled at one head.
const MOST_GAPS: usize = 64;

/// What to do after a node's answer.
enum Then {
    GoOn,
    /// The nodes cannot take more at the moment.
    Rest,
}

impl Sender {
    /// Gives nodes what they were not given at this head.
    pub(super) async fn broadcast(&self, memory: &mut Memory, round: &Round) -> Result<(), Trouble> {
        let head = round.head.number();
        let mut due = self.due(memory, round).into_iter();
        let mut answers = FuturesOrdered::new();
        let mut sent = Vec::new();
        loop {
            for (claim, payment) in due.by_ref().take(AT_ONCE.saturating_sub(answers.len())) {
                // From here on nobody can say that no node has it.
                let is_fresh = memory.fresh.remove(&payment.hash);
                memory.given.insert(payment.hash, head);
                let giving = give(Arc::clone(&self.shared.chain), payment.raw.clone());
                answers.push_back(giving.map(move |answer| (claim, payment.hash, is_fresh, answer)));
            }
            let Some((claim, hash, is_fresh, answer)) = answers.next().await else { break };
            match answer {
                Ok(Sent::Accepted | Sent::Known) if claim.state == ClaimState::Signed => {
                    sent.push((claim.id, hash));
                }
                Ok(Sent::Accepted | Sent::Known) => {}
                Err(error) => match self.judge(round, claim, (hash, is_fresh), &error).await? {
                    Then::GoOn => {}
                    Then::Rest => break,
                },
            }
        }
        if !sent.is_empty() {
            self.shared.db.mark_claims_sent(&sent, self.now()).await?;
        }
        Ok(())
    }

    /// Transactions to give, by payer and nonce. Nodes keep a limited number of one account, so those that are far ahead
    /// wait for their turn.
    fn due<'r>(&self, memory: &Memory, round: &'r Round) -> Vec<(&'r ClaimRow, &'r PaymentRow)> {
        let head = round.head.number();
        let mut due: Vec<_> = round
            .open
            .iter()
            .filter_map(|claim| Some((claim, claim.payment.as_ref()?)))
            .filter(|(_, payment)| {
                let mined = round.mined_nonce(payment.payer);
                (mined..mined.saturating_add(self.shared.settings.in_flight)).contains(&payment.nonce)
            })
            .filter(|(_, payment)| memory.given.get(&payment.hash) != Some(&head))
            .collect();
        due.sort_by_key(|(_, payment)| (payment.payer, payment.nonce));
        due
    }

    async fn judge(
        &self,
        round: &Round,
        claim: &ClaimRow,
        (hash, is_fresh): (B256, bool),
        error: &SendError,
    ) -> Result<Then, Trouble> {
        let (reason, message) = match error {
            SendError::Unknown(error) => {
                tracing::debug!(claim = claim.id, %hash, %error, "whether a node has a claim's transaction is not known");
                return Ok(Then::Rest);
            }
            SendError::Rejected { reason, message } => (reason, message),
        };
        match reason {
            // Either it is mined or another one is; the blocks will tell which.
            Rejection::NonceTooLow | Rejection::NonceOccupied => Ok(Then::GoOn),
            Rejection::NotNow => Ok(Then::Rest),
            Rejection::Underpriced | Rejection::InsufficientFunds | Rejection::Other => {
                tracing::warn!(claim = claim.id, %hash, message, "nodes refuse the transaction of a claim");
                if is_fresh {
                    let refused = (claim.id, hash);
                    self.shared.db.release_signed_claim(round.lease, refused, message, self.now()).await?;
                }
                Ok(Then::GoOn)
            }
        }
    }

    /// Fills nonces that nobody has below some that are held, which could not be mined otherwise: they are left over from
    /// claims that were given up, or from transactions that nodes have lost. New claims take them first; what remains is filled with
    /// transfers of nothing. Where something of somebody else may wait, only after that has had its time to be mined.
    pub(super) async fn mend_gaps(&self, memory: &mut Memory, round: &Round) -> Result<(), Trouble> {
        let head = round.head.number();
        if memory.mended.replace(head) == Some(head) {
            return Ok(());
        }
        let payer = self.payer.address();
        let mined = round.mined_nonce(payer);
        let held = nonce::held(&round.open, payer, mined);
        if nonce::gaps(mined, &held).next().is_none() {
            return Ok(());
        }
        let first = round.nonces.first_free(&held);
        if round.nonces.missing(&held).is_some() {
            let (missing, pending) = (round.nonces.mined, round.nonces.pending);
            tracing::warn!(
                %payer, missing, pending,
                "transactions of the faucet wait above a nonce that is missing; it is filled"
            );
        }
        let base_fee = round.head.header.base_fee_per_gas.unwrap_or(0);
        let fees = Fees::new(self.shared.chain.gas_price().await?, base_fee);
        for nonce in nonce::gaps(first, &held).take(MOST_GAPS) {
            let filling = self.payer.sign(payer, Wei::default(), nonce, fees, head)?;
            let answer = self.shared.chain.send_transaction(filling.raw).await;
            tracing::info!(nonce, is_taken = answer.is_ok(), "a gap between the faucet's nonces is filled");
        }
        Ok(())
    }
}

async fn give(chain: Arc<dyn ChainClient>, raw: Bytes) -> Result<Sent, SendError> {
    chain.send_transaction(raw).await
}
