//! What the coin costs.

use serde::Serialize;
use store::portal::{QuoteRow, RateRow};
use utoipa::ToSchema;

use crate::view::TimeText;

/// What a coin costs.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RateView {
    /// Rupiah for a coin, in decimal.
    #[schema(pattern = "^[0-9]+(\\.[0-9]{1,8})?$", example = "1000")]
    idr_per_coin: String,
    /// Who says so: the operator, and which rate of theirs it is.
    #[schema(pattern = "^operator:[0-9]+$", example = "operator:7")]
    source: String,
    /// Since when.
    as_of: TimeText,
}

/// The rate that counts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CurrentRateView {
    /// The rate.
    pub(crate) rate: RateView,
}

impl From<&RateRow> for RateView {
    fn from(row: &RateRow) -> Self {
        Self {
            idr_per_coin: row.rate.to_string(),
            source: format!("operator:{}", row.id),
            as_of: TimeText::from_millis(row.created_at),
        }
    }
}

impl From<&QuoteRow> for RateView {
    fn from(quote: &QuoteRow) -> Self {
        Self {
            idr_per_coin: quote.rate.to_string(),
            source: format!("operator:{}", quote.rate_id),
            as_of: TimeText::from_millis(quote.rate_at),
        }
    }
}
