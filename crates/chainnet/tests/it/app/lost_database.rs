//! A database that is gone is not replaced by an empty one in silence; and nobody but its owner reads it.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use testkit::AppProcess;

use super::{folder, up};
use crate::rig::{BINARY, chainnet};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode()
        & 0o777
}

async fn refused(data: &Path) -> String {
    let arguments = ["up", "--on-demand", "--data", data.to_str().unwrap()];
    let ports = ["api", "gateway", "faucet", "explorer", "rpc", "metrics"];
    let ports = ports.iter().flat_map(|name| [format!("--{name}-port"), "0".to_owned()]);
    chainnet(arguments.map(str::to_owned).into_iter().chain(ports)).await.failure()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_gone_is_not_begun_afresh_by_accident() {
    let data = folder();
    let (path, file) = (data.path(), data.path().join("chainnet.db"));
    let mut app = up(path).await;
    app.stop().await.unwrap();
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(path.join(format!("chainnet.db{suffix}")));
    }
    fs::write(&file, "").unwrap();
    let said = refused(path).await;
    assert!(said.contains("is empty") && said.contains("chainnet db create"), "{said}");
    fs::remove_file(&file).unwrap();
    let said = refused(path).await;
    assert!(said.contains("is missing") && said.contains("restore a backup"), "{said}");
    assert!(!file.exists(), "nothing was made");
    let said = chainnet(["keys", "list", "--data", path.to_str().unwrap()]).await.failure();
    assert!(said.contains("is missing"), "{said}");
    chainnet(["db", "create", "--data", path.to_str().unwrap()]).await.success();
    assert!(fs::metadata(&file).unwrap().len() > 0);
    up(path).await.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_was_broken_off_before_its_database_goes_on() {
    let data = folder();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let arguments = ["--on-demand", "--rate-limit-max", "100000"];
    let broken = ["up", "--data", data.path().to_str().unwrap(), "--api-port", &port];
    let ports = ["gateway", "faucet", "explorer", "rpc", "metrics"];
    let ports = ports.iter().flat_map(|name| [format!("--{name}-port"), "0".to_owned()]);
    let all = broken.into_iter().chain(arguments).map(str::to_owned).chain(ports);
    chainnet(all).await.failure();
    assert!(!data.path().join("chainnet.db").exists());
    AppProcess::up(BINARY, data.path(), arguments).await.unwrap().stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_data_directory_is_its_owners_alone() {
    let folder = folder();
    let data = folder.path().join("data");
    let mut app = up(&data).await;
    for (name, expected) in
        [("", 0o700), ("chainnet.db", 0o600), ("chainnet.db-wal", 0o600), ("chainnet.db-shm", 0o600)]
    {
        let path = if name.is_empty() { data.clone() } else { data.join(name) };
        assert_eq!(mode(&path), expected, "{}", path.display());
    }
    app.stop().await.unwrap();
}
