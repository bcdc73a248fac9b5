//! `/api/v1/network…`: the active network, its contracts, and all networks. Known from the deployment record alone.

use std::sync::Arc;

use axum::extract::State;

use crate::{
    edge::answer::{Answer, Holds},
    problem::Problem,
    state::ApiState,
    view::network::{ContractsView, NetworkView, NetworksView},
};

/// The active network
///
/// Chain id, public addresses, and the object that `wallet_addEthereumChain` (EIP-3085) takes.
#[utoipa::path(
    get, path = "/api/v1/network", tag = "Network",
    responses((status = 200, description = "The active network", body = NetworkView))
)]
pub(super) async fn get_network(State(state): State<Arc<ApiState>>) -> Result<Answer, Problem> {
    Answer::json(&NetworkView::from(&state.deployment), Holds::Process)
}

/// Contract addresses
///
/// Where the network's own contracts are, by name.
#[utoipa::path(
    get, path = "/api/v1/network/contracts", tag = "Network",
    responses((status = 200, description = "The contracts", body = ContractsView))
)]
pub(super) async fn list_contracts(State(state): State<Arc<ApiState>>) -> Result<Answer, Problem> {
    Answer::json(&ContractsView::from(&state.deployment), Holds::Process)
}

/// All networks
///
/// Chain ids of devnet, testnet and mainnet, and which of them this server serves.
#[utoipa::path(
    get, path = "/api/v1/network/all", tag = "Network",
    responses((status = 200, description = "All networks", body = NetworksView))
)]
pub(super) async fn list_networks(State(state): State<Arc<ApiState>>) -> Result<Answer, Problem> {
    Answer::json(&NetworksView::new(state.deployment.network), Holds::Process)
}
