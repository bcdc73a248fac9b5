//! `chainnet chain export` and `chainnet chain import`.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Write},
    sync::Arc,
};

use anyhow::{Context, ensure};
use devchain::{chain::Chain, transfer};

use crate::{
    cli::{Export, Import},
    config::Config,
    data_dir, database_file,
    keys::NetworkKeys,
    network_genesis,
    output::say,
    progress,
};

/// Writes blocks to a file.
pub(crate) fn export(config: &Config, options: &Export) -> anyhow::Result<()> {
    let chain = open(config)?;
    let head = chain.head().block.number();
    let end = options.end.unwrap_or(head + 1);
    ensure!(options.from < end, "nothing to export: --from {} is not before --end {end}", options.from);
    // Before the file is touched: it may hold an earlier export.
    ensure!(end <= head + 1, "cannot export up to block {}, the head is {head}", end - 1);
    let bar = progress::bar(end - options.from, "{bar:40} {pos}/{len} blocks, {per_sec}, {eta} left");
    let to: Box<dyn Write> = if options.to.as_os_str() == "-" {
        Box::new(io::stdout().lock())
    } else {
        Box::new(
            File::create(&options.to).with_context(|| format!("cannot create {}", options.to.display()))?,
        )
    };
    transfer::export(&chain, options.from..=end - 1, BufWriter::new(to), |_| bar.inc(1))?;
    bar.finish_and_clear();
    if options.to.as_os_str() != "-" {
        say(format!("exported blocks {} to {} into {}", options.from, end - 1, options.to.display()));
    }
    Ok(())
}

/// Adds the blocks of a file.
pub(crate) fn import(config: &Config, options: &Import) -> anyhow::Result<()> {
    let file =
        File::open(&options.file).with_context(|| format!("cannot open {}", options.file.display()))?;
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    let chain = open(config)?;
    let bar = progress::bar(bytes, "{bar:40} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left");
    let result =
        transfer::import(&chain, BufReader::with_capacity(1 << 20, file), |offset| bar.set_position(offset));
    bar.finish_and_clear();
    let head = chain.head();
    let imported =
        result.with_context(|| format!("import stopped, the chain is at block {}", head.block.number()))?;
    say(format!(
        "imported {} blocks with {} transactions ({} known before)\nhead {} {}\nstate root {}",
        imported.added,
        imported.transactions,
        imported.known,
        head.block.number(),
        head.block.hash,
        head.block.header.state_root,
    ));
    Ok(())
}

fn open(config: &Config) -> anyhow::Result<Arc<Chain>> {
    let keys = NetworkKeys::load(config.network, &config.data)?;
    let genesis = network_genesis::load(config, &keys)?;
    data_dir::create(&config.data)?;
    database_file::before_chain(config)?;
    Ok(Chain::open(&config.chain_dir(), &genesis)?)
}
