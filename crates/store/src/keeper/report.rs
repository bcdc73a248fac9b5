//! Offences of validators.

use alloy_primitives::{Address, B256, Bytes};
use sqlx::FromRow;

use crate::{
    Db, StoreError,
    convert::{parse_address, parse_hash, to_signed, to_unsigned},
    lease::{Lease, hold},
};

/// What a validator did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OffenceKind {
    /// Its node was down.
    Downtime,
    /// Its node signed two blocks of one height and round.
    DoubleSign,
}

impl OffenceKind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Downtime, Self::DoubleSign];

    /// The name in rows, logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Downtime => "downtime",
            Self::DoubleSign => "double-sign",
        }
    }
}

/// Two seals of one validator for different blocks of one height and round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubleSign {
    /// The round.
    pub round: u32,
    /// The digests that were sealed, ascending.
    pub digests: [B256; 2],
    /// The headers with their seals, RLP, in the order of the digests: whoever has them can check the seals.
    pub headers: [Bytes; 2],
}

/// An offence to be reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReport {
    /// What tells it from every other offence.
    pub occasion: String,
    /// What was done.
    pub kind: OffenceKind,
    /// Whose node it is, if somebody registered it.
    pub operator: Option<Address>,
    /// The node.
    pub node: Address,
    /// The last sign of life, or the height that was signed twice.
    pub block_number: u64,
    /// The proof of a double-sign.
    pub proof: Option<DoubleSign>,
    /// What was seen, in words.
    pub note: String,
    /// Chain time, in seconds.
    pub seen_at: u64,
}

/// An offence that was reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportRow {
    /// What was reported.
    pub report: NewReport,
    /// When, in Unix milliseconds.
    pub created_at: u64,
}

#[derive(FromRow)]
struct RawReport {
    occasion: String,
    kind: String,
    operator: Option<Vec<u8>>,
    node: Vec<u8>,
    block_number: i64,
    round: Option<i64>,
    digest_one: Option<Vec<u8>>,
    digest_two: Option<Vec<u8>>,
    header_one: Option<Vec<u8>>,
    header_two: Option<Vec<u8>>,
    note: String,
    seen_at: i64,
    created_at: i64,
}

const COLUMNS: &str = "occasion, kind, operator, node, block_number, round, digest_one, digest_two, header_one, \
                       header_two, note, seen_at, created_at";

impl Db {
    /// Notes an offence. True when it is new, false when it was noted before or the lease is lost.
    pub async fn report_offence(&self, lease: Lease, new: &NewReport, now: u64) -> Result<bool, StoreError> {
        let sql = "INSERT INTO keeper_report (occasion, kind, operator, node, block_number, round, digest_one, \
                   digest_two, header_one, header_two, note, seen_at, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
                   ON CONFLICT (occasion) DO NOTHING RETURNING occasion";
        let block = to_signed("block", new.block_number)?;
        let (seen_at, now) = (to_signed("time", new.seen_at)?, to_signed("time", now)?);
        let proof = new.proof.as_ref();
        let digest =
            |index: usize| proof.and_then(|proof| proof.digests.get(index)).map(|hash| hash.to_vec());
        let header = |index: usize| proof.and_then(|proof| proof.headers.get(index)).map(|rlp| rlp.to_vec());
        let mut tx = self.begin().await?;
        if !hold(&mut tx, lease).await? {
            return Ok(false);
        }
        let inserted: Option<String> = on_connection!(tx, connection => {
            sqlx::query_scalar(sql)
                .bind(&new.occasion)
                .bind(new.kind.name())
                .bind(new.operator.map(|operator| operator.to_vec()))
                .bind(new.node.as_slice())
                .bind(block)
                .bind(proof.map(|proof| i64::from(proof.round)))
                .bind(digest(0))
                .bind(digest(1))
                .bind(header(0))
                .bind(header(1))
                .bind(&new.note)
                .bind(seen_at)
                .bind(now)
                .fetch_optional(connection)
                .await
        })?;
        tx.commit().await?;
        Ok(inserted.is_some())
    }

    /// What was reported of a validator, by its node's or its operator's address, newest first.
    pub async fn offences_of(
        &self,
        address: Address,
        kind: OffenceKind,
        most: u32,
    ) -> Result<Vec<ReportRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM keeper_report WHERE (node = $1 OR operator = $1) AND kind = $3 \
             ORDER BY seen_at DESC, occasion LIMIT $2"
        );
        let rows: Vec<RawReport> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(address.as_slice())
                .bind(i64::from(most))
                .bind(kind.name())
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(ReportRow::try_from).collect()
    }
}

impl TryFrom<RawReport> for ReportRow {
    type Error = StoreError;

    fn try_from(raw: RawReport) -> Result<Self, StoreError> {
        let kind = OffenceKind::ALL
            .into_iter()
            .find(|kind| kind.name() == raw.kind)
            .ok_or_else(|| StoreError::corrupt("kind of an offence", "no such kind"))?;
        let proof = match (raw.round, raw.digest_one, raw.digest_two, raw.header_one, raw.header_two) {
            (Some(round), Some(one), Some(two), Some(header_one), Some(header_two)) => Some(DoubleSign {
                round: u32::try_from(round).map_err(|error| StoreError::corrupt("round", error))?,
                digests: [parse_hash("digest", &one)?, parse_hash("digest", &two)?],
                headers: [header_one.into(), header_two.into()],
            }),
            _ => None,
        };
        let operator = raw.operator.map(|operator| parse_address("operator", &operator)).transpose()?;
        Ok(Self {
            report: NewReport {
                occasion: raw.occasion,
                kind,
                operator,
                node: parse_address("node", &raw.node)?,
                block_number: to_unsigned("block of an offence", raw.block_number)?,
                proof,
                note: raw.note,
                seen_at: to_unsigned("time of an offence", raw.seen_at)?,
            },
            created_at: to_unsigned("time of an offence", raw.created_at)?,
        })
    }
}
