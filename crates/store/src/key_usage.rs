//! What gateway keys were used for, per key and day.

use domain::KeyId;

use crate::{
    Db, StoreError,
    convert::{to_signed, to_unsigned},
    gateway_key::parse_key_id,
};

/// What a key was used for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyUsage {
    /// Requests that passed.
    pub requests: u64,
    /// Requests that were refused although the key is good: over a limit, or without the permission.
    pub denied: u64,
    /// Units that heavy methods cost.
    pub units: u64,
}

/// The usage of a key on a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUsageRow {
    /// Which key.
    pub key: KeyId,
    /// Which day, in days since 1970.
    pub day: u64,
    /// What it was used for.
    pub usage: KeyUsage,
}

impl Db {
    /// Adds to the usage of keys, all of it or nothing.
    pub async fn add_key_usage(&self, more: &[KeyUsageRow]) -> Result<(), StoreError> {
        let sql = "INSERT INTO key_usage (key_id, day, requests, denied, units) VALUES ($1, $2, $3, $4, $5) \
                   ON CONFLICT (key_id, day) DO UPDATE SET requests = key_usage.requests + excluded.requests, \
                   denied = key_usage.denied + excluded.denied, units = key_usage.units + excluded.units";
        // In one order for all, so that two processes cannot wait for each other's rows.
        let mut more: Vec<_> = more.iter().collect();
        more.sort_by_key(|row| (row.key, row.day));
        let mut tx = self.begin().await?;
        for KeyUsageRow { key, day, usage } in more {
            let day = to_signed("day", *day)?;
            let requests = to_signed("number of requests", usage.requests)?;
            let denied = to_signed("number of requests", usage.denied)?;
            let units = to_signed("number of units", usage.units)?;
            on_connection!(tx, connection => {
                sqlx::query(sql)
                    .bind(key.as_str())
                    .bind(day)
                    .bind(requests)
                    .bind(denied)
                    .bind(units)
                    .execute(connection)
                    .await
                    .map(drop)
            })?;
        }
        tx.commit().await
    }

    /// The usage of one key or of all since a day, by key and day.
    pub async fn list_key_usage(
        &self,
        key: Option<&KeyId>,
        since_day: u64,
    ) -> Result<Vec<KeyUsageRow>, StoreError> {
        let sql = "SELECT key_id, day, requests, denied, units FROM key_usage \
                   WHERE day >= $1 AND ($2 = '' OR key_id = $2) ORDER BY key_id, day";
        let since_day = to_signed("day", since_day)?;
        let rows: Vec<(String, i64, i64, i64, i64)> = on_readers!(self, pool => {
            sqlx::query_as(sql).bind(since_day).bind(key.map_or("", KeyId::as_str)).fetch_all(pool).await
        })?;
        let rows = rows.into_iter().map(|(key, day, requests, denied, units)| {
            Ok(KeyUsageRow {
                key: parse_key_id(&key)?,
                day: to_unsigned("day", day)?,
                usage: KeyUsage {
                    requests: to_unsigned("number of requests", requests)?,
                    denied: to_unsigned("number of requests", denied)?,
                    units: to_unsigned("number of units", units)?,
                },
            })
        });
        rows.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyRow, engine_tests, testing::TestDb};

    async fn insert_keys(test: &TestDb, ids: &[&str]) {
        for id in ids {
            let key = KeyRow {
                id: id.parse().unwrap(),
                secret_hash: [7; 32],
                team: "Partner QA".parse().unwrap(),
                permissions: "rpc".parse().unwrap(),
                networks: Vec::new(),
                requests_per_minute: 600.try_into().unwrap(),
                created_at: 1_000,
                expires_at: None,
                revoked_at: None,
                replaced_by: None,
            };
            assert!(test.insert_key(&key).await.unwrap());
        }
    }

    fn used(key: &str, day: u64, requests: u64) -> KeyUsageRow {
        let usage = KeyUsage { requests, denied: requests / 2, units: requests * 3 };
        KeyUsageRow { key: key.parse().unwrap(), day, usage }
    }

    engine_tests! {
        async fn usage_adds_up_per_key_and_day(test: TestDb) {
            insert_keys(test, &["a", "b"]).await;
            test.add_key_usage(&[used("b", 2, 4), used("a", 1, 2)]).await.unwrap();
            test.add_key_usage(&[used("a", 1, 6), used("a", 3, 2)]).await.unwrap();
            test.add_key_usage(&[]).await.unwrap();
            let all = test.list_key_usage(None, 0).await.unwrap();
            assert_eq!(all, [used("a", 1, 8), used("a", 3, 2), used("b", 2, 4)]);
            let late = test.list_key_usage(Some(&"a".parse().unwrap()), 2).await.unwrap();
            assert_eq!(late, [used("a", 3, 2)]);
        }

        async fn usage_of_a_key_that_is_not_there_is_refused_whole(test: TestDb) {
            insert_keys(test, &["a"]).await;
            assert!(test.add_key_usage(&[used("a", 1, 2), used("nobody", 1, 2)]).await.is_err());
            assert_eq!(test.list_key_usage(None, 0).await.unwrap(), []);
        }

        async fn processes_that_add_at_once_lose_nothing(test: TestDb) {
            insert_keys(test, &["a", "b", "c"]).await;
            let adding: Vec<_> = (0..16)
                .map(|index| {
                    let db = test.db();
                    tokio::spawn(async move {
                        let mut rows = [used("a", 1, 2), used("b", 1, 2), used("c", 1, 2)];
                        rows.rotate_left(index % 3);
                        db.add_key_usage(&rows).await
                    })
                })
                .collect();
            for added in adding {
                added.await.unwrap().unwrap();
            }
            let all = test.list_key_usage(None, 0).await.unwrap();
            assert_eq!(all, [used("a", 1, 32), used("b", 1, 32), used("c", 1, 32)]);
        }
    }
}
