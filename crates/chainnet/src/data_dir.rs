//! The data directory, for its owner alone: keys, the chain and the database are in it.

use std::{
    fs::{self, DirBuilder, Permissions},
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::Path,
};

use anyhow::Context;

/// What its owner may do with it.
const OWNER: u32 = 0o700;
const EVERYBODY_ELSE: u32 = 0o077;
/// A folder that everybody shares, such as `/tmp`, is nobody's own.
const SHARED: u32 = 0o1000;

/// Makes a directory if there is none, and takes one that is there away from everybody else.
pub(crate) fn create(folder: &Path) -> anyhow::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(OWNER).create(folder);
    made.with_context(|| format!("cannot create {}", folder.display()))?;
    let mode = fs::metadata(folder).map_or(OWNER, |found| found.permissions().mode());
    if mode & EVERYBODY_ELSE != 0 && mode & SHARED == 0 {
        // Only its owner can; anybody else will be told when a file in it cannot be used.
        let _ = fs::set_permissions(folder, Permissions::from_mode(mode & 0o7777 & !EVERYBODY_ELSE));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(folder: &Path) -> u32 {
        fs::metadata(folder).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_folder_is_its_owners_alone_unless_everybody_shares_it() {
        let dir = tempfile::tempdir().unwrap();
        let (fresh, old, shared) =
            (dir.path().join("a/b"), dir.path().join("old"), dir.path().join("shared"));
        for (folder, mode) in [(&old, 0o755), (&shared, 0o1777)] {
            fs::create_dir(folder).unwrap();
            fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
        }
        for folder in [&fresh, &old, &shared] {
            create(folder).unwrap();
        }
        assert_eq!((mode(&fresh), mode(&dir.path().join("a"))), (0o700, 0o700));
        assert_eq!((mode(&old), mode(&shared)), (0o700, 0o1777));
    }
}
