//! The history of an address as a file for spreadsheets, sent while it is read.

use std::{fmt::Write, sync::Arc};

use alloy_primitives::{Address, hex};
use api::meaning;
use axum::{body::Body, extract::State, response::Response};
use bytes::Bytes;
use domain::Wei;
use futures_util::stream;
use http_body_util::StreamBody;
use hyper::{
    body::Frame,
    header::{self, HeaderValue},
};
use store::{Db, StoreError, index::TransactionRow};

use super::parse;
use crate::{failure::Failure, format::utc, segment::Segment, site::Site};

/// Rows of the longest file.
const MOST_ROWS: usize = 10_000;
/// Rows that are read at once.
const BATCH: u32 = 500;
const HEADING: &str = "transaction,block,index,time,status,direction,from,to,created_contract,value,fee,gas_used,nonce,method\r\n";

/// A file that is being sent.
struct Download {
    db: Db,
    address: Address,
    before: Option<(u64, u32)>,
    rows: usize,
    is_done: bool,
}

/// `GET /address/{address}/transactions.csv`: newest first.
pub(crate) async fn download(
    State(site): State<Arc<Site>>,
    Segment(text): Segment,
) -> Result<Response, Failure> {
    let address = parse(&text)?;
    let mut download = Download { db: site.api.db.clone(), address, before: None, rows: 0, is_done: false };
    // The first part is read before anything is said, so that a database that is away is told as that.
    let mut first = HEADING.to_owned();
    download.read(&mut first).await?;
    let rest = stream::unfold(download, |mut download| async move {
        if download.is_done {
            return None;
        }
        let mut text = String::new();
        let part = download.read(&mut text).await.map(|()| Frame::data(Bytes::from(text)));
        download.is_done |= part.is_err();
        Some((part, download))
    });
    let whole = stream::StreamExt::chain(
        stream::once(async move { Ok::<_, StoreError>(Frame::data(Bytes::from(first))) }),
        rest,
    );
    let mut response = Response::new(Body::new(StreamBody::new(whole)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    headers.insert("x-row-limit", HeaderValue::from(MOST_ROWS));
    let name = format!("attachment; filename=\"{}.csv\"", address.to_checksum(None));
    if let Ok(name) = HeaderValue::try_from(name) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

impl Download {
    /// Appends the next rows.
    async fn read(&mut self, out: &mut String) -> Result<(), StoreError> {
        let room = MOST_ROWS - self.rows;
        // One more than there is room for tells whether some are left out.
        let wanted = BATCH.min(u32::try_from(room + 1).unwrap_or(BATCH));
        let rows = self.db.list_account_transactions(self.address, self.before, wanted).await?;
        for row in rows.iter().take(room) {
            write_row(out, row, self.address);
        }
        self.rows += rows.len().min(room);
        self.before = rows.last().map(|row| (row.block_number, row.index));
        if rows.len() > room {
            out.push_str("# only the newest 10000 transactions; the API pages through all of them\r\n");
        }
        self.is_done = rows.len() > room || rows.len() < wanted as usize;
        Ok(())
    }
}

fn write_row(out: &mut String, row: &TransactionRow, address: Address) {
    let direction = match (row.from == address, row.to == Some(address)) {
        (true, true) => "self",
        (true, false) => "out",
        (false, _) => "in",
    };
    let party =
        |address: Option<Address>| address.map(|address| address.to_checksum(None)).unwrap_or_default();
    let method = match row.selector.filter(|_| row.to.is_some()) {
        Some(selector) => match meaning::function(selector) {
            Some(signature) => format!("\"{signature}\""),
            None => hex::encode_prefixed(selector),
        },
        None => String::new(),
    };
    // Writing to a string cannot fail. No field but the method can have a comma.
    let _ = write!(
        out,
        "{},{},{},{},{},{direction},{},{},{},{},{},{},{},{method}\r\n",
        row.hash,
        row.block_number,
        row.index,
        utc(row.timestamp).trim_end_matches(" UTC"),
        if row.success { "success" } else { "failed" },
        row.from.to_checksum(None),
        party(row.to),
        party(row.contract_address),
        Wei(row.value.0),
        Wei(row.fee.0),
        row.gas_used,
        row.nonce,
    );
}
