//! Challenges to sign: each is answered once.

use alloy_primitives::Address;
use domain::portal::ChallengeId;
use sqlx::FromRow;

use crate::{
    Db, StoreError,
    convert::{parse_address, to_signed},
};

/// A challenge that was given out. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChallengeRow {
    /// Its id.
    pub id: ChallengeId,
    /// Who is to sign.
    pub address: Address,
    /// What is to be signed, whole.
    pub message: String,
    /// From when on no signature is taken.
    pub expires_at: u64,
}

/// What was to be signed, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumedChallenge {
    /// Who is to have signed.
    pub address: Address,
    /// What is to have been signed.
    pub message: String,
}

#[derive(FromRow)]
struct RawConsumed {
    address: Vec<u8>,
    message: String,
}

impl Db {
    /// Keeps a challenge.
    pub async fn insert_challenge(&self, challenge: &ChallengeRow) -> Result<(), StoreError> {
        let sql = "INSERT INTO portal_challenge (id, address, message, expires_at) VALUES ($1, $2, $3, $4)";
        let expires_at = to_signed("time", challenge.expires_at)?;
        on_writer!(self, pool => {
            sqlx::query(sql)
                .bind(challenge.id.as_bytes().as_slice())
                .bind(challenge.address.as_slice())
                .bind(&challenge.message)
                .bind(expires_at)
                .execute(pool)
                .await
                .map(drop)
        })?;
        Ok(())
    }

    /// Takes a challenge, so that nobody can answer it again. None when there is no such one, its time is over, or
    /// somebody was faster.
    pub async fn consume_challenge(
        &self,
        id: ChallengeId,
        now: u64,
    ) -> Result<Option<ConsumedChallenge>, StoreError> {
        let sql = "UPDATE portal_challenge SET consumed_at = $1 WHERE id = $2 AND consumed_at IS NULL \
                   AND expires_at > $1 RETURNING address, message";
        let now = to_signed("time", now)?;
        let raw: Option<RawConsumed> = on_writer!(self, pool => {
            sqlx::query_as(sql).bind(now).bind(id.as_bytes().as_slice()).fetch_optional(pool).await
        })?;
        raw.map(|raw| {
            let address = parse_address("address of a challenge", &raw.address)?;
            Ok(ConsumedChallenge { address, message: raw.message })
        })
        .transpose()
    }

    /// Gives a challenge back that was taken at this time and not judged.
    pub async fn return_challenge(&self, id: ChallengeId, consumed_at: u64) -> Result<(), StoreError> {
        let sql = "UPDATE portal_challenge SET consumed_at = NULL WHERE id = $1 AND consumed_at = $2";
        let consumed_at = to_signed("time", consumed_at)?;
        on_writer!(self, pool => {
            sqlx::query(sql).bind(id.as_bytes().as_slice()).bind(consumed_at).execute(pool).await.map(drop)
        })?;
        Ok(())
    }

    /// Forgets challenges whose time was over before this.
    pub async fn delete_challenges_before(&self, time: u64) -> Result<u64, StoreError> {
        let sql = "DELETE FROM portal_challenge WHERE expires_at < $1";
        let time = to_signed("time", time)?;
        Ok(on_writer!(self, pool => {
            sqlx::query(sql).bind(time).execute(pool).await.map(|done| done.rows_affected())
        })?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_tests;

    fn challenge(random: u128) -> ChallengeRow {
        ChallengeRow {
            id: ChallengeId::new(1_000, random << 64),
            address: Address::repeat_byte(7),
            message: "sign\nthis".to_owned(),
            expires_at: 2_000,
        }
    }

    engine_tests! {
        async fn a_challenge_is_taken_once_and_in_time(test: TestDb) {
            let ChallengeRow { id, address, message, .. } = challenge(1);
            test.insert_challenge(&challenge(1)).await.unwrap();
            assert_eq!(test.consume_challenge(id, 2_000).await.unwrap(), None, "too late");
            let taken = test.consume_challenge(id, 1_999).await.unwrap();
            assert_eq!(taken, Some(ConsumedChallenge { address, message }));
            assert_eq!(test.consume_challenge(id, 1_999).await.unwrap(), None);
            assert_eq!(test.consume_challenge(challenge(2).id, 1_999).await.unwrap(), None, "unknown");
        }

        async fn who_took_a_challenge_can_give_it_back(test: TestDb) {
            let id = challenge(1).id;
            test.insert_challenge(&challenge(1)).await.unwrap();
            test.consume_challenge(id, 1_500).await.unwrap().unwrap();
            test.return_challenge(id, 1_400).await.unwrap();
            assert_eq!(test.consume_challenge(id, 1_600).await.unwrap(), None, "taken at another time");
            test.return_challenge(id, 1_500).await.unwrap();
            assert!(test.consume_challenge(id, 1_600).await.unwrap().is_some());
        }

        async fn of_many_who_answer_at_once_one_is_judged(test: TestDb) {
            let id = challenge(1).id;
            test.insert_challenge(&challenge(1)).await.unwrap();
            let answering: Vec<_> = (0..16)
                .map(|_| {
                    let db = test.db();
                    tokio::spawn(async move { db.consume_challenge(id, 1_500).await.unwrap().is_some() })
                })
                .collect();
            let mut taken = 0;
            for answer in answering {
                taken += u32::from(answer.await.unwrap());
            }
            assert_eq!(taken, 1);
        }

        async fn old_challenges_are_forgotten(test: TestDb) {
            test.insert_challenge(&challenge(1)).await.unwrap();
            test.insert_challenge(&ChallengeRow { expires_at: 3_000, ..challenge(2) }).await.unwrap();
            assert_eq!(test.delete_challenges_before(2_500).await.unwrap(), 1);
            assert!(test.consume_challenge(challenge(2).id, 1_500).await.unwrap().is_some());
        }
    }
}
