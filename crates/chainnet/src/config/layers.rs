//! Where values come from, and which of them counts: flag, then variable, then file, then default.
//!
//! A value that is overridden is checked all the same, so that nothing wrong waits for its turn.

use std::{collections::BTreeMap, ffi::OsString, fmt, path::Path};

use super::{
    file::ConfigFile,
    problem::{ConfigError, Problem},
    setting::{About, DefaultValue, Setting},
    table::FILE,
};

/// What the command line and the environment say; everything that configuration is made of besides files.
#[derive(Debug, Default, Clone)]
pub struct Given {
    /// Values of flags, by the flag's name without dashes.
    pub flags: BTreeMap<String, String>,
    /// The environment.
    pub env: BTreeMap<String, OsString>,
}

impl Given {
    /// What this process was given.
    pub fn of_process(flags: BTreeMap<String, String>) -> Self {
        let env = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        Self { flags, env: env.collect() }
    }
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The flag of this name.
    Flag(&'static str),
    /// The variable of this name.
    Env(&'static str),
    /// The configuration file, with the line.
    File(String, usize),
    /// The network's deployment record.
    Deployment,
    /// Nobody said anything.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "flag --{name}"),
            Self::Env(name) => write!(f, "variable {name}"),
            Self::File(path, line) => write!(f, "{path} line {line}"),
            Self::Deployment => f.write_str("deployment record"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A setting as it counts.
#[derive(Debug)]
pub struct Effective {
    /// Which setting.
    pub about: &'static About,
    /// Its value without secrets; none when it is not set and has no default.
    pub shown: Option<String>,
    /// Where the value came from.
    pub source: Source,
}

/// Takes settings out of their layers and remembers what is wrong and what counts.
pub(super) struct Layers {
    given: Given,
    file: ConfigFile,
    problems: Vec<Problem>,
    effective: Vec<Effective>,
}

impl Layers {
    pub(super) fn new(given: Given, working_dir: &Path) -> Self {
        let mut layers =
            Self { given, file: ConfigFile::default(), problems: Vec::new(), effective: Vec::new() };
        let named = layers.texts(&FILE).into_iter().next();
        layers.file = ConfigFile::read(
            named.as_ref().map(|(path, _)| path.as_ref()),
            working_dir,
            &mut layers.problems,
        );
        layers
    }

    /// A setting that always has a value; `fallback` when the one given is refused, so that the rest can be checked.
    pub(super) fn take<T>(&mut self, setting: &'static Setting<T>, fallback: T) -> T {
        let default = match setting.about.default {
            DefaultValue::Fixed(text) => (setting.parse)(text).ok(),
            DefaultValue::Depends(_) => None,
        };
        self.take_or(setting, default, Source::Default).unwrap_or(fallback)
    }

    /// A setting whose default depends on others.
    pub(super) fn take_or<T>(
        &mut self,
        setting: &'static Setting<T>,
        default: Option<T>,
        default_source: Source,
    ) -> Option<T> {
        let mut counts = None;
        for (text, source) in self.texts(&setting.about) {
            match (setting.parse)(&text) {
                Ok(value) => counts = counts.or(Some((value, source))),
                Err(reason) => self.problems.push(refusal(setting, &text, &source, &reason)),
            }
        }
        let (value, source) = match counts {
            Some((value, source)) => (Some(value), source),
            None => (default, default_source),
        };
        self.effective.push(Effective {
            about: &setting.about,
            shown: value.as_ref().map(setting.show),
            source,
        });
        value
    }

    /// The texts given for a setting, the one that counts first. Empty ones count as not given.
    fn texts(&mut self, about: &'static About) -> Vec<(String, Source)> {
        let flag = self.given.flags.get(about.flag).cloned().map(|text| (text, Source::Flag(about.flag)));
        let env = match self.given.env.get(about.env).map(|value| value.clone().into_string()) {
            Some(Ok(text)) if !text.is_empty() => Some((text, Source::Env(about.env))),
            Some(Err(_)) => {
                let place = Source::Env(about.env).to_string();
                self.problems.push(Problem { place, what: "the value is not UTF-8".to_owned() });
                None
            }
            Some(Ok(_)) | None => None,
        };
        let file = self.file.get(about).map(|value| {
            (value.text.clone(), Source::File(self.file.path.display().to_string(), value.line))
        });
        [flag, env, file].into_iter().flatten().collect()
    }

    pub(super) fn report(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Everything taken and what was `made` from it, unless something was wrong.
    pub(super) fn finish<T>(self, made: Option<T>) -> Result<(T, Vec<Effective>), ConfigError> {
        match made {
            Some(made) if self.problems.is_empty() => Ok((made, self.effective)),
            Some(_) | None => Err(ConfigError { problems: self.problems }),
        }
    }
}

fn refusal<T>(setting: &Setting<T>, text: &str, source: &Source, reason: &str) -> Problem {
    let about = &setting.about;
    let value = if setting.secret {
        "the value is refused".to_owned()
    } else {
        format!("`{text}` is refused: {reason}")
    };
    Problem {
        place: format!("{} ({source})", about.key),
        what: format!("{value} (allowed: {})", about.allowed),
    }
}
