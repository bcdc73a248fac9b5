//! Giving claims their transactions.

use alloy_primitives::B256;
use chain::Fees;
use store::{ClaimRow, SignedClaim};

use super::{Memory, Round, Sender, Trouble, nonce};

/// Claims that are signed in one transaction of the database.
const BATCH: usize = 64;

impl Sender {
    /// Signs what is reserved, and anew what has lost its nonce to another transaction.
    pub(super) async fn sign(
        &self,
        memory: &mut Memory,
        round: &mut Round,
        scanned: u64,
    ) -> Result<(), Trouble> {
        let lost: Vec<(u64, B256)> = round.open.iter().filter_map(|claim| lost(claim, round)).collect();
        let reserved: Vec<u64> =
            round.open.iter().filter(|claim| claim.payment.is_none()).map(|claim| claim.id).collect();
        if lost.is_empty() && reserved.is_empty() {
            return Ok(());
        }
        let payer = self.payer.address();
        let mined = round.mined_nonce(payer);
        let held = nonce::held(&round.open, payer, mined);
        let mut nonces = nonce::free(round.nonces.first_free(&held), &held);
        let base_fee = round.head.header.base_fee_per_gas.unwrap_or(0);
        let fees = Fees::new(self.shared.chain.gas_price().await?, base_fee);
        for (id, former) in lost {
            let Some(nonce) = nonces.next() else { break };
            self.sign_again(memory, round, (id, former), nonce, fees, scanned).await?;
        }
        for batch in reserved.chunks(BATCH) {
            let mut signed = Vec::with_capacity(batch.len());
            for (id, nonce) in batch.iter().zip(&mut nonces) {
                signed.extend(self.transfer(round, *id, nonce, fees, scanned)?);
            }
            if !self.store(memory, round, signed).await? {
                break;
            }
        }
        Ok(())
    }

    /// The transaction of a claim.
    fn transfer(
        &self,
        round: &Round,
        id: u64,
        nonce: u64,
        fees: Fees,
        scanned: u64,
    ) -> Result<Option<SignedClaim>, Trouble> {
        let Some(claim) = round.open.iter().find(|claim| claim.id == id) else { return Ok(None) };
        let payment = self.payer.sign(claim.wallet, claim.amount, nonce, fees, scanned)?;
        Ok(Some(SignedClaim { id, payment }))
    }

    /// Stores first transactions and calls the claimants. False when the lease is lost.
    async fn store(
        &self,
        memory: &mut Memory,
        round: &mut Round,
        signed: Vec<SignedClaim>,
    ) -> Result<bool, Trouble> {
        let Some(stored) = self.shared.db.sign_claims(round.lease, &signed, self.now()).await? else {
            memory.lease = None;
            return Ok(false);
        };
        self.shared.counter.call(&stored);
        for claim in signed.into_iter().filter(|claim| stored.contains(&claim.id)) {
            memory.fresh.insert(claim.payment.hash);
            put(round, claim);
        }
        Ok(true)
    }

    /// Replaces a transaction that can never be mined: the payer's nonce has passed it, and it is in no block since it was
    /// signed.
    async fn sign_again(
        &self,
        memory: &mut Memory,
        round: &mut Round,
        (id, former): (u64, B256),
        nonce: u64,
        fees: Fees,
        scanned: u64,
    ) -> Result<(), Trouble> {
        let Some(signed) = self.transfer(round, id, nonce, fees, scanned)? else { return Ok(()) };
        let is_stored = self.shared.db.sign_claim_again(round.lease, former, &signed, self.now()).await?;
        if is_stored {
            let hash = signed.payment.hash;
            tracing::warn!(claim = id, %former, %hash, "another transaction took the nonce of a claim's");
            memory.fresh.insert(hash);
            put(round, signed);
        }
        Ok(())
    }
}

/// The transaction of a claim if another one has taken its nonce. To be asked only when every block up to the one that
/// `round.mined` is of was looked at.
fn lost(claim: &ClaimRow, round: &Round) -> Option<(u64, B256)> {
    let payment = claim.payment.as_ref()?;
    (payment.nonce < round.mined_nonce(payment.payer)).then_some((claim.id, payment.hash))
}

fn put(round: &mut Round, signed: SignedClaim) {
    if let Some(claim) = round.open.iter_mut().find(|claim| claim.id == signed.id) {
        claim.payment = Some(signed.payment);
        claim.state = domain::ClaimState::Signed;
    }
}
