//! The newest invoices of a merchant that has few, many and very many.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use store::testing::seed_invoices;

use super::{MINING, Options, Stage, row};
use crate::{
    load::{self, Server, Until},
    progress,
    table::{Row, Target, Unit},
};

/// Sizes of the list before the largest.
const SIZES: [u64; 2] = [1_000, 100_000];
/// Lists per second that two cores must give, together with whoever asks.
const FAST: f64 = 5_000.0;

pub(super) async fn measure(stage: &Stage, options: &Options) -> Result<Vec<Row>> {
    let mut merchant = stage.merchant(1).await?;
    let key = merchant.buy_key(MINING).await?;
    let db = stage.database().await?;
    let requests = Arc::new(vec![
        format!(
            "GET /api/v1/platform-dev/v1/invoices?limit=20 HTTP/1.1\r\nhost: 127.0.0.1\r\nx-platform-dev-key: {key}\r\n\r\n"
        )
        .into_bytes(),
    ]);
    let server = Server { address: stage.app.api().address(), pid: stage.app.server().pid() };
    let (mut rows, mut made) = (Vec::new(), 0);
    for size in SIZES.into_iter().filter(|size| *size < options.invoices).chain([options.invoices]) {
        let bar = progress::spinner(format!("making {size} invoices"));
        seed_invoices(&db, merchant.wallet.address(), made..size).await?;
        made = size;
        bar.set_message(format!("lists of {size} invoices"));
        load::send(server, &requests, Until::Elapsed(Duration::from_millis(500)), &bar).await?;
        let time = Duration::from_secs(options.seconds);
        let cost = load::send(server, &requests, Until::Elapsed(time), &bar).await?;
        bar.finish_and_clear();
        let (of, fast) = (format!("20 of {size} invoices"), Target::AtLeast(FAST));
        rows.push(row(format!("{of}, lists per second"), Unit::PerSecond, cost.per_second(), fast));
        rows.push(row(format!("{of}, CPU per list"), Unit::Micros, cost.cpu_micros(), Target::None));
    }
    db.close().await;
    Ok(rows)
}
