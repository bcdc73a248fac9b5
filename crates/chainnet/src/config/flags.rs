//! The flags of the table on the command line: each command has those of the settings it uses.

use std::collections::BTreeMap;

use clap::{Arg, ArgMatches, Command};

use super::{
    setting::About,
    table::{FILE, SETTINGS},
};

/// Shows what every setting would be, so it has the flag of every setting.
const SHOWS_ALL: &str = "config";
/// Commands whose flags may stand behind their subcommands too.
const PASSES_DOWN: [&str; 11] = [
    "ctl",
    "applications",
    "keys",
    "allowlist",
    "partner",
    "rate",
    "portal",
    "registry",
    "validator",
    "network",
    "db",
];

/// Adds the settings' flags to a command and the commands below it.
pub(crate) fn add_flags(command: Command) -> Command {
    let everywhere =
        settings().filter(|about| about.commands.is_empty()).map(|about| arg(about).global(true));
    command.args(everywhere).mut_subcommands(add_own_flags)
}

fn add_own_flags(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let passes_down = PASSES_DOWN.contains(&name.as_str());
    let own = settings()
        .filter(|about| !about.commands.is_empty())
        .filter(|about| name == SHOWS_ALL || about.commands.contains(&name.as_str()))
        .map(|about| arg(about).global(passes_down));
    command.args(own).mut_subcommands(add_own_flags)
}

fn settings() -> impl Iterator<Item = &'static About> {
    SETTINGS.into_iter().chain([&FILE])
}

fn arg(about: &'static About) -> Arg {
    let default = if about.default_words().is_empty() { "none" } else { about.default_words() };
    let place = settings().position(|other| other.flag == about.flag).unwrap_or_default();
    Arg::new(about.flag)
        .long(about.flag)
        .value_name(about.value)
        .help(format!("{} [env: {}] [default: {default}]", about.meaning, about.env))
        .long_help(format!("{}: {}\n[env: {}] [default: {default}]", about.meaning, about.allowed, about.env))
        .help_heading("Settings")
        .display_order(place)
}

/// The values of the settings' flags.
pub(crate) fn given_flags(matches: &ArgMatches) -> BTreeMap<String, String> {
    let mut flags = BTreeMap::new();
    let mut level = Some(matches);
    while let Some(matches) = level {
        for about in settings() {
            // A flag that this command does not have is an error here, and means that it was not given.
            if let Ok(Some(value)) = matches.try_get_one::<String>(about.flag) {
                flags.insert(about.flag.to_owned(), value.clone());
            }
        }
        level = matches.subcommand().map(|(_, below)| below);
    }
    flags
}
