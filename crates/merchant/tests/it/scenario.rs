//! Many payments to a few wallets, the same whenever they are asked for: what came of them in two databases can be
//! compared to the byte.

use alloy_primitives::{Address, B256, U256};
use domain::Wei;
use rand::{Rng, SeedableRng, rngs::StdRng};
use store::Db;

use crate::rig::{Books, Index, Paid, books, open_invoice, open_order, wallet};

const WALLETS: u8 = 7;

/// So many payments in blocks of one to `most_per_block`.
pub(crate) struct Scenario {
    pub(crate) blocks: Vec<Vec<Paid>>,
    pub(crate) payments: usize,
}

pub(crate) fn wallets() -> impl Iterator<Item = Address> {
    (1..=WALLETS).map(wallet)
}

impl Scenario {
    /// Opens what is to be paid, and lays down who pays what when.
    pub(crate) async fn prepare(db: &Db, payments: usize, most_per_block: usize) -> Self {
        let mut dice = StdRng::seed_from_u64(7);
        let mut paid = Vec::new();
        for number in 0..payments as u64 {
            let wallet = wallet(dice.random_range(1..=WALLETS));
            paid.push(match number % 4 {
                // Every fourth is odd in some way.
                3 => match dice.random_range(0..3) {
                    0 => Paid::Fee(B256::from(U256::from(number)), wallet, Wei::from_coin(1)),
                    1 => {
                        let order = open_order(db, wallet, number).await;
                        Paid::Fee(order.reference, wallet, Wei::from_coin(99))
                    }
                    _ => {
                        let order = open_order(db, wallet, number).await;
                        Paid::Fee(order.reference, Address::repeat_byte(1), Wei::from_coin(101))
                    }
                },
                2 => {
                    let order = open_order(db, wallet, number).await;
                    Paid::Fee(order.reference, wallet, order.amount)
                }
                _ => {
                    let (_, quote) = open_invoice(db, wallet, number).await;
                    Paid::Quote(quote, wallet, Wei::from_coin(150))
                }
            });
        }
        let mut blocks = Vec::new();
        let mut rest = paid.as_slice();
        while !rest.is_empty() {
            let size = dice.random_range(1..=most_per_block).min(rest.len());
            let (block, after) = rest.split_at(size);
            blocks.push(block.to_vec());
            rest = after;
        }
        Self { blocks, payments }
    }

    /// Puts everything into the index at once; answers the last block.
    pub(crate) async fn play(&self, index: &mut Index) -> u64 {
        let mut last = 0;
        for block in &self.blocks {
            last = index.block(block).await;
        }
        last
    }
}

/// Nobody was told anything twice, and nothing is missing.
pub(crate) async fn check(db: &Db, payments: usize) -> Books {
    let books = books(db, wallets()).await;
    assert_eq!(books.payments.len(), payments);
    for address in wallets() {
        let mut sequences: Vec<u64> =
            books.events.iter().filter(|event| event.wallet == address).map(|event| event.sequence).collect();
        sequences.reverse();
        assert_eq!(sequences, (1..=sequences.len() as u64).collect::<Vec<_>>(), "of {address}");
    }
    books
}
