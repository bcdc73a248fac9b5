//! A block's header with the state after it: where reads and simulations start.

use std::sync::Arc;

use alloy_consensus::Header;

use super::{Chain, Head};
use crate::{state::StateView, store::StoreError};

/// A block's header and the state after it.
pub(crate) enum Moment {
    /// The newest block.
    Head(Arc<Head>),
    /// An earlier one.
    Past {
        /// Its header.
        header: Box<Header>,
        /// The state after it.
        state: StateView,
    },
}

impl Moment {
    pub(crate) fn header(&self) -> &Header {
        match self {
            Self::Head(head) => &head.block.header,
            Self::Past { header, .. } => header,
        }
    }

    pub(crate) fn state(&self) -> &StateView {
        match self {
            Self::Head(head) => &head.state,
            Self::Past { state, .. } => state,
        }
    }
}

impl Chain {
    /// The moment after the block at this height, unless the head has not reached it.
    pub(crate) fn moment(&self, number: u64) -> Result<Option<Moment>, StoreError> {
        let head = self.head();
        if number == head.block.number() {
            return Ok(Some(Moment::Head(head)));
        }
        if number > head.block.number() {
            return Ok(None);
        }
        let header = self.store.header(number)?;
        Ok(header.map(|header| Moment::Past { state: self.state_at(&header), header: Box::new(header) }))
    }
}
