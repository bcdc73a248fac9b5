//! Carrying out what was decided: signing, giving nodes the transactions, and closing what the chain shows to be done.
//!
//! Everything is judged at one block: the registry's record says whether the effect is there, and the signer's nonce whether the
//! transaction still can be mined. As long as it can, its very bytes are given to nodes with every head. Another one is
//! signed only when the nonce is gone and the effect is not there, in which case the first never had it.

use std::collections::{BTreeSet, HashMap, HashSet, hash_map::Entry};

use alloy_primitives::{Address, Bytes};
use chain::{
    At, ChainError, Fees, FoundTransaction, Head, NonceProgress, NonceState, Rejection, SendError, Sent,
};
use store::{
    Lease,
    keeper::{ActionRow, ActionState, ActionTransaction, KeeperTask},
};

use crate::{
    keeper::{Keeper, Trouble},
    registry::{self, Member, Standing},
    signer::Signer,
};

/// Transactions that are signed for one action; one more would not fare better.
const MOST_ATTEMPTS: u32 = 5;
/// Missing nonces that are filled at one head.
const MOST_GAPS: usize = 64;

/// What the registry says of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// It is still to be done.
    Wanted,
    /// Its effect is there, or it is pointless.
    Over,
}

/// What all actions of a round share.
struct Desk<'a> {
    lease: Lease,
    head: &'a Head,
    members: &'a [Member],
    signer: &'a Signer,
    fees: Fees,
    /// Nonces of accounts that signed, after the head's block.
    mined: HashMap<Address, u64>,
    /// Nonces of our own that open actions have.
    held: BTreeSet<u64>,
    /// Our own nonces, as far as nodes tell.
    nonces: NonceState,
    /// Below this one of our own nonces is taken.
    first: u64,
    /// Operators with a transaction under way: a second slash waits for what the first does.
    busy: HashSet<Address>,
}

impl Desk<'_> {
    /// The lowest nonce that nobody has.
    fn next_nonce(&mut self) -> u64 {
        let mut nonce = self.first;
        while !self.held.insert(nonce) {
            nonce += 1;
        }
        nonce
    }

    fn member(&self, operator: Address) -> Option<&Member> {
        self.members.iter().find(|member| member.operator == operator)
    }

    fn is_gone(&self, transaction: &ActionTransaction) -> bool {
        self.mined.get(&transaction.signer).is_some_and(|mined| *mined > transaction.nonce)
    }
}

impl Keeper {
    /// Takes every open action as far as it can be taken at this head.
    pub(crate) async fn carry_out(
        &self,
        lease: Lease,
        head: &Head,
        members: &[Member],
    ) -> Result<(), Trouble> {
        let open = self.db.open_actions().await?;
        self.metrics.open_actions.set(i64::try_from(open.len()).unwrap_or(i64::MAX));
        let (Some(signer), false) = (&self.signer, open.is_empty()) else {
            *self.progress.lock() = NonceProgress::default();
            return Ok(());
        };
        let mut desk = self.desk(lease, head, members, signer, &open).await?;
        self.mend_gap(&desk).await?;
        for action in open {
            if let Some(transaction) = self.settle(&mut desk, &action).await? {
                self.give(&action, &transaction).await;
            }
        }
        Ok(())
    }

    async fn desk<'a>(
        &self,
        lease: Lease,
        head: &'a Head,
        members: &'a [Member],
        signer: &'a Signer,
        open: &[ActionRow],
    ) -> Result<Desk<'a>, Trouble> {
        let own = signer.address();
        let transactions = || open.iter().filter_map(|action| action.transaction.as_ref());
        let mut mined = HashMap::new();
        for account in transactions().map(|transaction| transaction.signer).chain([own]) {
            if let Entry::Vacant(place) = mined.entry(account) {
                place.insert(self.nonce_at(account, head).await?);
            }
        }
        let held: BTreeSet<u64> =
            transactions().filter(|transaction| transaction.signer == own).map(|one| one.nonce).collect();
        let own_mined = mined.get(&own).copied().unwrap_or(0);
        let pending = self.chain.pending_nonce(own).await?;
        let nonces = self.progress.lock().observe(head.number(), own_mined, pending);
        let first = nonces.first_free(&held);
        let under_way = open.iter().filter(|action| action.transaction.is_some());
        let busy = under_way.map(|action| action.action.operator).collect();
        let base_fee = head.header.base_fee_per_gas.unwrap_or(0);
        let fees = Fees::new(self.chain.gas_price().await?, base_fee);
        Ok(Desk { lease, head, members, signer, fees, mined, held, nonces, first, busy })
    }

    async fn nonce_at(&self, account: Address, head: &Head) -> Result<u64, ChainError> {
        Ok(self.chain.account(account, At::Number(head.number())).await?.nonce)
    }

    /// Fills nonces that are missing below a transaction of ours that waits, which cannot be mined otherwise: something else of
    /// the same key was lost, or somebody uses the key.
    async fn mend_gap(&self, desk: &Desk<'_>) -> Result<(), Trouble> {
        let Some(missing) = desk.nonces.missing(&desk.held) else { return Ok(()) };
        let end = desk.held.last().copied().unwrap_or(0);
        for nonce in (missing..end).filter(|nonce| !desk.held.contains(nonce)).take(MOST_GAPS) {
            let filling = desk.signer.void(nonce, desk.fees)?;
            let is_taken = self.chain.send_transaction(filling.raw).await.is_ok();
            let keeper = desk.signer.address();
            tracing::warn!(%keeper, nonce, is_taken, "the keeper's transactions do not move; a nonce that is missing is filled");
        }
        Ok(())
    }

    /// Brings an action on; answers what is to be given to nodes.
    async fn settle(
        &self,
        desk: &mut Desk<'_>,
        action: &ActionRow,
    ) -> Result<Option<ActionTransaction>, Trouble> {
        let need = need(action, desk);
        match (&action.transaction, need) {
            (None, Need::Over) => {
                self.close(desk, action, ActionState::Superseded, None, "it is not needed any more").await?;
                Ok(None)
            }
            (None, Need::Wanted) if desk.busy.insert(action.action.operator) => self.sign(desk, action).await,
            (None, Need::Wanted) => Ok(None),
            (Some(transaction), Need::Over) if desk.is_gone(transaction) => {
                self.close_by_block(desk, action, transaction).await?;
                Ok(None)
            }
            // Somebody was faster: what is under way must not do it a second time.
            (Some(transaction), Need::Over) if !transaction.is_void => {
                self.recall(desk, action, transaction).await
            }
            (Some(transaction), Need::Over) => Ok(Some(transaction.clone())),
            (Some(transaction), Need::Wanted) if desk.is_gone(transaction) => {
                if action.attempts < MOST_ATTEMPTS {
                    return self.sign(desk, action).await;
                }
                self.close(desk, action, ActionState::Failed, None, "the registry refused it too often")
                    .await?;
                Ok(None)
            }
            (Some(transaction), Need::Wanted) => Ok(Some(transaction.clone())),
        }
    }

    /// Signs an action's transaction and stores it; none when the lease is lost.
    async fn sign(
        &self,
        desk: &mut Desk<'_>,
        action: &ActionRow,
    ) -> Result<Option<ActionTransaction>, Trouble> {
        let nonce = desk.next_nonce();
        let signed = desk.signer.call(self.settings.registry, input(action), nonce, desk.fees)?;
        self.store(desk, action, signed).await
    }

    /// Takes the nonce of a transaction that is not wanted any more.
    async fn recall(
        &self,
        desk: &Desk<'_>,
        action: &ActionRow,
        transaction: &ActionTransaction,
    ) -> Result<Option<ActionTransaction>, Trouble> {
        if transaction.signer != desk.signer.address() {
            return Ok(None);
        }
        let (task, operator) = (action.action.task.name(), action.action.operator);
        tracing::info!(task, %operator, "somebody else did it first; the keeper's transaction is recalled");
        self.store(desk, action, desk.signer.void(transaction.nonce, desk.fees)?).await
    }

    async fn store(
        &self,
        desk: &Desk<'_>,
        action: &ActionRow,
        signed: ActionTransaction,
    ) -> Result<Option<ActionTransaction>, Trouble> {
        let former = action.transaction.as_ref().map(|transaction| transaction.hash);
        let expects = expectation(action, desk);
        let is_stored =
            self.db.sign_action(desk.lease, (action.id, former), (&signed, expects), self.now()).await?;
        Ok(is_stored.then_some(signed))
    }

    /// Closes an action whose effect is there and whose nonce is gone: done by us, if our transaction is in a block.
    async fn close_by_block(
        &self,
        desk: &Desk<'_>,
        action: &ActionRow,
        transaction: &ActionTransaction,
    ) -> Result<(), Trouble> {
        let mut mined_in = None;
        if let Some(FoundTransaction::Mined { block, index }) =
            self.chain.transaction(transaction.hash).await?
        {
            let receipts = self.chain.receipts(&block).await?;
            if receipts.get(index).is_some_and(|receipt| receipt.success) {
                mined_in = Some(block.number());
            }
        }
        match mined_in.filter(|_| !transaction.is_void) {
            Some(block) => self.close(desk, action, ActionState::Done, Some(block), "").await,
            None => {
                self.close(desk, action, ActionState::Superseded, mined_in, "somebody else did it first")
                    .await
            }
        }
    }

    async fn close(
        &self,
        desk: &Desk<'_>,
        action: &ActionRow,
        state: ActionState,
        block: Option<u64>,
        note: &str,
    ) -> Result<(), Trouble> {
        let note = Some(note).filter(|note| !note.is_empty());
        if self.db.close_action(desk.lease, action.id, (state, block, note), self.now()).await? {
            let (task, operator, result) = (action.action.task, action.action.operator, state.name());
            self.metrics.closed(task, state);
            if state == ActionState::Failed {
                tracing::error!(task = task.name(), %operator, note, "the keeper gives up");
            } else {
                tracing::info!(task = task.name(), %operator, result, block, note, "the keeper is through with it");
            }
        }
        Ok(())
    }

    /// Gives nodes the bytes. Whatever they say, the next head tells what became of it.
    async fn give(&self, action: &ActionRow, transaction: &ActionTransaction) {
        let (task, hash) = (action.action.task, transaction.hash);
        match self.chain.send_transaction(transaction.raw.clone()).await {
            Ok(Sent::Accepted | Sent::Known) => {
                self.refused.lock().remove(&hash);
            }
            Err(SendError::Unknown(error)) => {
                tracing::debug!(task = task.name(), %hash, %error, "whether a node has the transaction is not known");
            }
            Err(SendError::Rejected { reason, message }) => match reason {
                Rejection::NonceTooLow | Rejection::NonceOccupied | Rejection::NotNow => {}
                Rejection::Underpriced | Rejection::InsufficientFunds | Rejection::Other => {
                    self.metrics.refused(task);
                    let signer = transaction.signer;
                    if self.refused.lock().insert(hash) {
                        tracing::warn!(
                            task = task.name(), %signer, %hash, message,
                            "nodes refuse the keeper's transaction; it is sent again with every block"
                        );
                    }
                }
            },
        }
    }
}

/// Whether an action is still to be done, by the registry at the head.
fn need(action: &ActionRow, desk: &Desk<'_>) -> Need {
    let decided = &action.action;
    let Some(member) = desk.member(decided.operator) else { return Need::Over };
    // Without a transaction, a slash that somebody else made meanwhile was not for this offence.
    let is_same_count = action.transaction.is_none() || u64::from(member.slash_count) == decided.expects;
    let is_wanted = match decided.task {
        KeeperTask::Unjail => {
            member.standing == Standing::Jailed
                && member.jailed_until == decided.expects
                && member.jailed_until <= desk.head.header.timestamp
        }
        KeeperTask::SlashDowntime => member.standing == Standing::Active && is_same_count,
        KeeperTask::SlashDoubleSign => member.can_be_slashed() && is_same_count,
    };
    if is_wanted { Need::Wanted } else { Need::Over }
}

/// What the registry must say for a transaction that is signed now to be the one that did it.
fn expectation(action: &ActionRow, desk: &Desk<'_>) -> u64 {
    let decided = &action.action;
    match (decided.task, &action.transaction) {
        (KeeperTask::SlashDowntime | KeeperTask::SlashDoubleSign, None) => {
            desk.member(decided.operator).map_or(decided.expects, |member| u64::from(member.slash_count))
        }
        (KeeperTask::Unjail, _) | (KeeperTask::SlashDowntime | KeeperTask::SlashDoubleSign, Some(_)) => {
            decided.expects
        }
    }
}

fn input(action: &ActionRow) -> Bytes {
    let operator = action.action.operator;
    match action.action.task {
        KeeperTask::Unjail => registry::unjail(operator),
        KeeperTask::SlashDowntime => registry::slash_for_downtime(operator),
        KeeperTask::SlashDoubleSign => registry::slash_for_double_sign(operator),
    }
}
