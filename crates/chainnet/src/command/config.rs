//! `chainnet config`: the configuration that counts.

use serde::Serialize;

use crate::{
    cli::ConfigOptions,
    config::{Config, DEFAULTS, Effective},
    output::say,
};

/// Prints the configuration, or the file of defaults.
pub(crate) fn run(config: &Config, options: &ConfigOptions) -> anyhow::Result<()> {
    if options.defaults {
        say(DEFAULTS.trim_end());
    } else if options.json {
        let settings: Vec<_> = config.effective().iter().map(SettingView::from).collect();
        say(serde_json::to_string_pretty(&settings)?);
    } else {
        config.effective().iter().for_each(|setting| say(line(setting)));
    }
    Ok(())
}

/// A setting as JSON.
#[derive(Serialize)]
struct SettingView<'a> {
    key: &'static str,
    env: &'static str,
    flag: String,
    value: Option<&'a str>,
    source: String,
}

impl<'a> From<&'a Effective> for SettingView<'a> {
    fn from(setting: &'a Effective) -> Self {
        Self {
            key: setting.about.key,
            env: setting.about.env,
            flag: format!("--{}", setting.about.flag),
            value: setting.shown.as_deref(),
            source: setting.source.to_string(),
        }
    }
}

/// A setting without a value is told by what happens then.
fn line(setting: &Effective) -> String {
    let value = match setting.shown.as_deref() {
        Some("") => "(none)".to_owned(),
        Some(value) => value.to_owned(),
        None => format!("({})", setting.about.default_words()),
    };
    format!("{:<25} {value:<40} {}", setting.about.key, setting.source)
}
