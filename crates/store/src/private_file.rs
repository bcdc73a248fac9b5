//! The file of a SQLite database is for its owner alone: it has mail addresses, and what secrets are checked against.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions, Permissions},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
};

/// What its owner may do with a file.
const OWNER: u32 = 0o600;
const EVERYBODY_ELSE: u32 = 0o077;

/// Makes the file if there is none, and takes it and those beside it away from everybody else. SQLite gives the files that it
/// makes later the same permissions. What cannot be done is left: if it matters, SQLite will say so when it opens the file.
pub(crate) fn keep(file: &Path) {
    let _ = OpenOptions::new().write(true).create_new(true).mode(OWNER).open(file);
    for suffix in ["", "-wal", "-shm"] {
        let mut name = OsString::from(file);
        name.push(suffix);
        let is_open = |path: &Path| {
            fs::metadata(path).is_ok_and(|found| found.permissions().mode() & EVERYBODY_ELSE != 0)
        };
        if is_open(Path::new(&name)) {
            let _ = fs::set_permissions(&name, Permissions::from_mode(OWNER));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Db;

    fn modes(folder: &Path) -> Vec<(String, u32)> {
        let mut found: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                (entry.file_name().into_string().unwrap(), mode)
            })
            .collect();
        found.sort();
        found
    }

    #[tokio::test]
    async fn a_database_and_its_logs_are_their_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        let url = format!("sqlite:{}", file.display());
        let private = [("a.db", 0o600), ("a.db-shm", 0o600), ("a.db-wal", 0o600)];
        let private = private.map(|(name, mode)| (name.to_owned(), mode));
        let db = Db::open(&url).await.unwrap();
        assert!(db.is_writable(1).await);
        assert_eq!(modes(folder.path()), private);
        // One that an older version has made.
        for (name, _) in &private {
            fs::set_permissions(folder.path().join(name), Permissions::from_mode(0o644)).unwrap();
        }
        let again = Db::open(&url).await.unwrap();
        assert_eq!(modes(folder.path()), private);
        again.close().await;
        db.close().await;
    }
}
