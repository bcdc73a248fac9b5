//! What a merchant has done, at a glance.

use serde::Serialize;
use utoipa::ToSchema;
