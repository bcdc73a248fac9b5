//! Reading the payments of the next blocks from the index.

use contracts::fees::FeeSource;
use store::{
    Db, StoreError,
    index::{ContractEvent, EventKind, EventRow},
    portal::{ChainPayment, CreditBatch, CreditPoint, IndexPoint, PaymentTarget},
};

/// Events that a batch has, unless a single block has more. Wallets are locked as long as it takes, and a worker that never
/// lives to its end would never get on.
const MOST_EVENTS: u32 = 256;
const KINDS: [EventKind; 2] = [EventKind::FeePaid, EventKind::QuotePaid];

/// The blocks after `from`, as many as one transaction shall have; none if the index has no more.
pub(super) async fn next_batch(
    db: &Db,
    index: IndexPoint,
    from: Option<CreditPoint>,
    most_blocks: u64,
    now: u64,
) -> Result<Option<CreditBatch>, StoreError> {
    let first = from.map_or(0, |point| point.number + 1);
    let Some(head) = index.number.filter(|head| *head >= first) else { return Ok(None) };
    let last = head.min(first.saturating_add(most_blocks.max(1) - 1));
    let (events, last) = read_events(db, first, last, MOST_EVENTS).await?;
    // None if the index has just been dropped.
    let Some(to) = db.indexed_block(last).await? else { return Ok(None) };
    let payments = events.into_iter().filter_map(payment).collect();
    Ok(Some(CreditBatch { generation: index.generation, from, to, payments, now }))
}

/// The events of whole blocks from `first` on, and the last of these blocks: `last`, or an earlier one if there are more than
/// `most`.
pub(crate) async fn read_events(
    db: &Db,
    first: u64,
    last: u64,
    most: u32,
) -> Result<(Vec<EventRow>, u64), StoreError> {
    let mut events = db.contract_events_in(&KINDS, first..=last, most).await?;
    if events.len() < most as usize {
        return Ok((events, last));
    }
    // The last block may have been cut off.
    let cut = events.last().map_or(first, |event| event.block_number);
    if cut == first {
        return Ok((db.contract_events_in(&KINDS, first..=first, u32::MAX).await?, first));
    }
    events.retain(|event| event.block_number < cut);
    Ok((events, cut - 1))
}

/// What an event says of a payment; none if it is not one to the portal or the checkout.
pub(crate) fn payment(row: EventRow) -> Option<ChainPayment> {
    let (target, payer, amount) = match row.event {
        ContractEvent::QuotePaid { quote_id, payer, amount, .. } => {
            (PaymentTarget::Quote(quote_id), payer, amount)
        }
        ContractEvent::FeePaid { source, reference, payer, amount, .. }
            if source == FeeSource::DeveloperPortal.id() =>
        {
            (PaymentTarget::Fee(reference), payer, amount)
        }
        _ => return None,
    };
    Some(ChainPayment {
        tx_hash: row.transaction_hash,
        log_index: row.log_index,
        block_number: row.block_number,
        block_time: row.timestamp.saturating_mul(1000),
        payer,
        amount,
        target,
    })
}
