//! The files of a network's folder, and how they get there.

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
};

use anyhow::{Context, bail};

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Its owner alone: it holds a secret.
    Private,
    /// Everybody.
    Open,
    /// Everybody, and it can be run.
    Script,
}

impl Access {
    pub(crate) const fn mode(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::Open => 0o644,
            Self::Script => 0o755,
        }
    }
}

/// A file of the folder.
pub(crate) struct NetworkFile {
    /// Where it is, from the folder on.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) access: Access,
}

impl NetworkFile {
    pub(crate) fn open(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), access: Access::Open }
    }

    pub(crate) fn private(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), access: Access::Private }
    }

    pub(crate) fn script(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), access: Access::Script }
    }

    /// Writes the file under `folder`, durably. One that is there already is refused.
    pub(crate) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let file = folder.join(&self.path);
        let cannot = || format!("cannot write {}", file.display());
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        }
        let mode = self.access.mode();
        let mut out =
            OpenOptions::new().write(true).create_new(true).mode(mode).open(&file).with_context(cannot)?;
        // Whatever the process's mask has taken away.
        out.set_permissions(fs::Permissions::from_mode(mode)).with_context(cannot)?;
        out.write_all(self.text.as_bytes()).and_then(|()| out.sync_all()).with_context(cannot)
    }
}

/// Makes the folder, or takes an empty one.
pub(crate) fn claim(folder: &Path) -> anyhow::Result<()> {
    let cannot = || format!("cannot use the folder {}", folder.display());
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => bail!(
                "{} is not empty; nothing is ever written over, name a folder that does not exist yet",
                folder.display()
            ),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => fs::create_dir_all(folder).with_context(cannot),
        Err(error) => Err(error).with_context(cannot),
    }
}
