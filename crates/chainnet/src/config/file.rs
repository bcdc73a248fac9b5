//! The configuration file: TOML flattened into dotted keys, each with the line it stands on.

use std::{
    collections::BTreeMap,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{problem::Problem, setting::About, table::SETTINGS};

/// Where the file is looked for when nobody names one.
const USUAL_NAME: &str = "chainnet.toml";

/// A value of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileValue {
    pub(super) text: String,
    pub(super) line: usize,
}

/// What a configuration file says.
#[derive(Debug, Default)]
pub(super) struct ConfigFile {
    pub(super) path: PathBuf,
    values: BTreeMap<String, FileValue>,
}

impl ConfigFile {
    /// Reads the named file, or the usual one if it is there.
    pub(super) fn read(named: Option<&Path>, working_dir: &Path, problems: &mut Vec<Problem>) -> Self {
        let path = named.map_or_else(|| PathBuf::from(USUAL_NAME), Path::to_path_buf);
        match fs::read_to_string(working_dir.join(&path)) {
            Ok(text) => Self::parse(path, &text, problems),
            Err(error) if named.is_none() && error.kind() == ErrorKind::NotFound => Self::default(),
            Err(error) => {
                problems.push(Problem {
                    place: format!("configuration file {}", path.display()),
                    what: format!("cannot be read: {error}"),
                });
                Self::default()
            }
        }
    }

    fn parse(path: PathBuf, text: &str, problems: &mut Vec<Problem>) -> Self {
        let mut file = Self { path, values: BTreeMap::new() };
        match DeTable::parse(text) {
            Ok(table) => file.flatten(text, "", table.get_ref(), problems),
            Err(error) => {
                let line = error.span().map_or(1, |span| line_of(text, span.start));
                problems.push(file.problem(line, format!("not TOML: {}", error.message())));
            }
        }
        file
    }

    /// The value of a setting.
    pub(super) fn get(&self, about: &About) -> Option<&FileValue> {
        self.values.get(about.key)
    }

    fn problem(&self, line: usize, what: String) -> Problem {
        Problem { place: format!("{} line {line}", self.path.display()), what }
    }

    fn flatten(&mut self, text: &str, section: &str, table: &DeTable<'_>, problems: &mut Vec<Problem>) {
        for (name, value) in table {
            let key = if section.is_empty() {
                name.get_ref().to_string()
            } else {
                format!("{section}.{}", name.get_ref())
            };
            let line = line_of(text, name.span().start);
            let is_setting = SETTINGS.iter().any(|about| about.key == key);
            let is_section = SETTINGS.iter().any(|about| about.key.starts_with(&format!("{key}.")));
            match (value.get_ref(), plain(value)) {
                (DeValue::Table(inner), _) if is_section => self.flatten(text, &key, inner, problems),
                (_, Some(text)) if is_setting => {
                    self.values.insert(key, FileValue { text, line });
                }
                (_, _) if is_setting || is_section => {
                    problems.push(self.problem(line, format!("`{key}` has a value of the wrong type")));
                }
                (_, _) => problems.push(self.problem(line, unknown(&key, section))),
            }
        }
    }
}

fn unknown(key: &str, section: &str) -> String {
    let prefix = if section.is_empty() { String::new() } else { format!("{section}.") };
    let mut known: Vec<_> = SETTINGS
        .iter()
        .filter_map(|about| about.key.strip_prefix(&prefix))
        .map(|rest| rest.split('.').next().unwrap_or(rest))
        .collect();
    // Keys of one section stand together in the table.
    known.dedup();
    format!("unknown key `{key}` (known here: {})", known.join(", "))
}

/// The value as it would be written in a variable; none for what no setting can be.
fn plain(value: &Spanned<DeValue<'_>>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Boolean(truth) => Some(truth.to_string()),
        DeValue::Array(items) => {
            items.iter().map(plain).collect::<Option<Vec<_>>>().map(|items| items.join(","))
        }
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}
