//! Wallets that the faucet pays on a network where not every wallet may claim.

use alloy_primitives::Address;
use domain::Team;

use crate::{
    Db, StoreError,
    convert::{parse_address, parse_team, to_signed, to_unsigned},
    db::Tx,
};

/// The constraint that a wallet's second entry violates.
const ONE_ENTRY: &str = "faucet_allowlist_pkey";

/// A wallet on the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedWallet {
    /// Its address.
    pub wallet: Address,
    /// Whose it is.
    pub team: Team,
    /// Why it is there, in the operator's words.
    pub note: Option<String>,
    /// When it was added, in Unix milliseconds.
    pub added_at: u64,
}

impl Db {
    /// Puts a wallet on the list. False, and nothing changes, when it is there.
    pub async fn add_allowed_wallet(&self, entry: &AllowedWallet) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let is_new = insert_allowed_wallet(&mut tx, entry).await?;
        tx.commit().await?;
        Ok(is_new)
    }

    /// Takes a wallet off the list. False when it is not there.
    pub async fn remove_allowed_wallet(&self, wallet: Address) -> Result<bool, StoreError> {
        let sql = "DELETE FROM faucet_allowlist WHERE wallet = $1 RETURNING wallet";
        let removed: Option<Vec<u8>> = on_writer!(self, pool => {
            sqlx::query_scalar(sql).bind(wallet.as_slice()).fetch_optional(pool).await
        })?;
        Ok(removed.is_some())
    }

    /// Whether a wallet is on the list.
    pub async fn is_wallet_allowed(&self, wallet: Address) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM faucet_allowlist WHERE wallet = $1";
        let found: Option<i32> = on_readers!(self, pool => {
            sqlx::query_scalar(sql).bind(wallet.as_slice()).fetch_optional(pool).await
        })?;
        Ok(found.is_some())
    }

    /// The whole list, oldest first. Operators make it by hand.
    pub async fn list_allowed_wallets(&self) -> Result<Vec<AllowedWallet>, StoreError> {
        let sql = "SELECT wallet, team, note, added_at FROM faucet_allowlist ORDER BY added_at, wallet";
        let rows: Vec<(Vec<u8>, String, Option<String>, i64)> =
            on_readers!(self, pool => sqlx::query_as(sql).fetch_all(pool).await)?;
        let entries = rows.into_iter().map(|(wallet, team, note, added_at)| {
            Ok(AllowedWallet {
                wallet: parse_address("allowed wallet", &wallet)?,
                team: parse_team(&team)?,
                note,
                added_at: to_unsigned("time of an allowed wallet", added_at)?,
            })
        });
        entries.collect()
    }
}

/// False when the wallet is there; the transaction can go on on neither engine then.
pub(crate) async fn insert_allowed_wallet(tx: &mut Tx, entry: &AllowedWallet) -> Result<bool, StoreError> {
    let sql = "INSERT INTO faucet_allowlist (wallet, team, note, added_at) VALUES ($1, $2, $3, $4)";
    let added_at = to_signed("time", entry.added_at)?;
    let inserted = on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(entry.wallet.as_slice())
            .bind(entry.team.as_str())
            .bind(&entry.note)
            .bind(added_at)
            .execute(connection)
            .await
            .map(drop)
    });
    match inserted.map_err(StoreError::from) {
        Ok(()) => Ok(true),
        Err(StoreError::Conflict { constraint, .. }) if constraint == ONE_ENTRY => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_tests;

    fn entry(wallet: u8, added_at: u64) -> AllowedWallet {
        let team = "Partner QA".parse().unwrap();
        AllowedWallet { wallet: Address::repeat_byte(wallet), team, note: None, added_at }
    }

    engine_tests! {
        async fn a_wallet_is_listed_once_and_can_be_taken_off(test: TestDb) {
            let noted = AllowedWallet { note: Some("for the trial".to_owned()), ..entry(2, 5) };
            assert!(test.add_allowed_wallet(&noted).await.unwrap());
            assert!(test.add_allowed_wallet(&entry(1, 9)).await.unwrap());
            assert!(!test.add_allowed_wallet(&entry(2, 10)).await.unwrap());
            assert_eq!(test.list_allowed_wallets().await.unwrap(), [noted, entry(1, 9)]);
            assert!(test.is_wallet_allowed(Address::repeat_byte(2)).await.unwrap());

            assert!(test.remove_allowed_wallet(Address::repeat_byte(2)).await.unwrap());
            assert!(!test.remove_allowed_wallet(Address::repeat_byte(2)).await.unwrap());
            assert!(!test.is_wallet_allowed(Address::repeat_byte(2)).await.unwrap());
            assert!(test.is_wallet_allowed(Address::repeat_byte(1)).await.unwrap());
        }

        async fn of_rivals_that_add_the_same_wallet_one_wins(test: TestDb) {
            let adding: Vec<_> = (0..8)
                .map(|time| {
                    let db = test.db();
                    tokio::spawn(async move { db.add_allowed_wallet(&entry(7, time)).await })
                })
                .collect();
            let mut won = 0;
            for added in adding {
                won += u32::from(added.await.unwrap().unwrap());
            }
            assert_eq!((won, test.list_allowed_wallets().await.unwrap().len()), (1, 1));
        }
    }
}
