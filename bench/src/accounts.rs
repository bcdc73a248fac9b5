//! x
#[derive(Debug, clap::Args)]
pub(crate) struct Options {}
pub(crate) async fn run(_: Options) -> anyhow::Result<()> {
    anyhow::bail!("not yet")
}
