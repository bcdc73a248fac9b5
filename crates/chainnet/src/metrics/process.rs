//! The process itself: what it is, since when it runs, and what it takes of the machine, as `/proc` has it.

use std::{fmt, fs};

use jiff::Timestamp;

use super::Figures;

/// Ticks in a second, in which Linux counts the time of processes for programs.
const TICKS: f64 = 100.0;

/// Figures of the process itself.
pub(super) struct ProcessFigures {
    network: &'static str,
    role: &'static str,
    started: f64,
}

impl ProcessFigures {
    pub(super) fn new(network: &'static str, role: &'static str) -> Self {
        let started = Timestamp::now().as_millisecond() as f64 / 1000.0;
        Self { network, role, started }
    }

    pub(super) fn write(&self, figures: &mut Figures<'_>) -> fmt::Result {
        let version = env!("CARGO_PKG_VERSION");
        let labels = [("version", version), ("network", self.network), ("role", self.role)];
        figures.gauges("chainnet_build_info", "What runs here", [(labels, 1.0)])?;
        figures.gauge("process_start_time_seconds", "When it started, in Unix seconds", self.started)?;
        // Where there is no /proc the rest is missing, which says so better than zeros.
        if let Some(seconds) = cpu_seconds() {
            figures.counter("process_cpu_seconds", "Time on processors", seconds)?;
        }
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        if let Some(kilobytes) = field(&status, "VmRSS:") {
            figures.gauge("process_resident_memory_bytes", "Memory in use", kilobytes * 1024.0)?;
        }
        if let Some(threads) = field(&status, "Threads:") {
            figures.gauge("process_threads", "Threads", threads)?;
        }
        if let Ok(open) = fs::read_dir("/proc/self/fd") {
            figures.gauge("process_open_fds", "Open files and connections", open.count() as f64)?;
        }
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        if let Some(most) = field(&limits, "Max open files") {
            figures.gauge("process_max_fds", "Files and connections that may be open", most)?;
        }
        Ok(())
    }
}

/// The number behind a name at the beginning of a line.
fn field(text: &str, name: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name may hold anything, and ends with the last parenthesis.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    #[test]
    fn the_process_is_told_of() {
        let text = Metrics::new("devnet", "worker").text().unwrap();
        for name in [
            "chainnet_build_info{version=",
            "role=\"worker\"",
            "process_start_time_seconds ",
            "process_cpu_seconds_total ",
            "process_resident_memory_bytes ",
            "process_open_fds ",
            "process_max_fds ",
            "process_threads ",
        ] {
            assert!(text.contains(name), "{name} is missing from\n{text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
    }

    #[test]
    fn a_field_is_found_by_its_name() {
        assert_eq!(field("VmPeak: 7 kB\nVmRSS:\t  12 kB\n", "VmRSS:"), Some(12.0));
        assert_eq!(field("Max open files   1024   4096   files\n", "Max open files"), Some(1024.0));
        assert_eq!(field("Max open files   unlimited\n", "Max open files"), None);
    }
}
