//! A block while no node answers: what the index has of it.

use chain::ChainError;

use super::{BlockWords, Page, TransactionPart, agreed::Agreed, first_row, gas};
use crate::{
    failure::{Failure, Missing},
    format::{Number, bytes, utc},
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    pages::transaction_table::{Kind, ROWS, TableWords, Tables},
    parts::{Ago, Mono},
    site::Site,
    visit::Visit,
};

/// The block at a height as the index has it; the chain's own trouble if it has not.
pub(super) async fn show(site: &Site, visit: &Visit, number: u64, trouble: ChainError) -> Shown {
    let w = BlockWords::of(visit.language);
    let rows = site.api.db.list_blocks(number.checked_add(1), 1).await?;
    let Some(row) = rows.first().filter(|row| row.number == number) else { return Err(trouble.into()) };
    let from = first_row(visit)?;
    let count = row.transaction_count as usize;
    // The list goes from the end of the block backwards.
    let end = u32::try_from(from.saturating_add(ROWS).min(count)).unwrap_or(u32::MAX);
    let wanted = u32::try_from(ROWS.min(count.saturating_sub(from))).unwrap_or(0);
    let mut transactions = site.api.db.list_transactions(Some((number, end)), wanted).await?;
    transactions.reverse();
    if transactions.iter().any(|transaction| transaction.block_number != number) {
        return Err(Failure::Missing(Missing::Anything));
    }
    let tables = Tables {
        site,
        language: visit.language,
        kind: Kind::Block,
        caption: w.transactions,
        empty: w.no_transactions,
    };
    show_page(&Page {
        frame: Frame::new(site, visit, Section::Chain, format!("{} {}", w.title, Number(number))),
        w,
        t: TableWords::of(visit.language),
        number,
        shown_number: Number(number),
        previous: number.checked_sub(1),
        following: Some(number + 1)
            .filter(|next| site.last_head().is_some_and(|head| *next <= head.number())),
        hash: Mono(row.hash.to_string()),
        parent: (number > 0).then(|| Mono(row.parent_hash.to_string())),
        time: utc(row.timestamp),
        ago: Ago { at: row.timestamp, now: site.now(), language: visit.language },
        agreed: Agreed {
            proposer: (number > 0).then(|| site.proposer_link(row.proposer).pictured()),
            round: row.round,
            validators: Vec::new(),
            sealed: 0,
            vote: None,
        },
        gas: gas(row.gas_used, row.gas_limit),
        base_fee: None,
        size: bytes(row.size),
        roots: None,
        transactions: TransactionPart {
            count: Number(count as u64),
            table: tables.of_rows(&transactions),
            next: Some(from + ROWS).filter(|next| *next < count),
            is_first: from == 0,
        },
    })
}
