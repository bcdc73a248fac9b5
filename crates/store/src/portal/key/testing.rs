//! Keys for tests that are not about buying one.

use super::{DeveloperKeyRow, insert_developer_key};
use crate::{Db, StoreError, portal::wallet::touch_wallet};

impl Db {
    /// Adds a key with a wallet and a claimed order of its own.
    pub async fn put_developer_key(&self, key: &DeveloperKeyRow) -> Result<(), StoreError> {
        let order = "INSERT INTO portal_order (id, wallet, kind, plan, key_name, scopes, amount_wei, reference, state, \
                     holds_slot, created_at, expires_at) \
                     VALUES ($1, $2, 'api_key', $3, $4, $5, '0', $6, 'claimed', FALSE, 0, 0)";
        let reference = [*key.order.as_bytes(); 2].concat();
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, key.wallet, key.created_at).await?;
        on_connection!(tx, connection => {
            sqlx::query(order)
                .bind(key.order.as_bytes().as_slice())
                .bind(key.wallet.as_slice())
                .bind(key.plan.name())
                .bind(&key.name)
                .bind(i16::from(key.scopes.bits()))
                .bind(reference)
                .execute(connection)
                .await
                .map(drop)
        })?;
        insert_developer_key(&mut tx, key).await?;
        tx.commit().await
    }
}
