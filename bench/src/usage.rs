//! What a process costs, as the Linux kernel counts it.

use std::{fs, os::unix::fs::MetadataExt, path::Path, time::Duration};

use anyhow::{Context, Result};

/// Length of a kernel clock tick in `/proc/PID/stat`; fixed at 100 per second for user space.
const TICK: Duration = Duration::from_millis(10);

/// CPU time that the process and its children have used, in user and kernel mode, all threads.
pub(crate) fn cpu_time(pid: i32) -> Result<Duration> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let mut total = own_cpu_time(pid)?;
    for child in children.split_whitespace() {
        total += own_cpu_time(child.parse()?)?;
    }
    Ok(total)
}

fn own_cpu_time(pid: i32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).context("the server is gone")?;
    // The program's name comes second, in parentheses, and may contain spaces.
    let (_, fields) = stat.rsplit_once(')').context("unreadable process state")?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u32 = fields.next().context("no user time")?.parse()?;
    let system: u32 = fields.next().context("no system time")?.parse()?;
    Ok(TICK * (user + system))
}

/// Memory resident now, in bytes.
pub(crate) fn resident_bytes(pid: i32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("the server is gone")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no resident size")?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes * 1024)
}

/// Bytes that a folder takes on disk: allocated blocks, so that sparse or preallocated files count as they are.
pub(crate) fn disk_bytes(folder: &Path) -> Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        total += if metadata.is_dir() { disk_bytes(&entry.path())? } else { metadata.blocks() * 512 };
    }
    Ok(total)
}
