//! `systemd/`: units for the nodes and for the service's roles. They are those of `deploy/systemd` with this folder's
//! paths in them.

use std::path::Path;

use anyhow::bail;
use domain::Network;

use super::file::NetworkFile;

/// Where the unit of a node expects the network's folder.
const NETWORK_FOLDER: &str = "/srv/chainnet/network";
/// Where the units of roles expect files with settings.
const SETTINGS_FOLDER: &str = "/etc/chainnet";

const NODE: (&str, &str) = ("besu@.service", include_str!("../../../../deploy/systemd/besu@.service"));
const FAUCET: (&str, &str) =
    ("chainnet-faucet.service", include_str!("../../../../deploy/systemd/chainnet-faucet.service"));
const ROLES: [(&str, &str); 4] = [
    ("chainnet-api.service", include_str!("../../../../deploy/systemd/chainnet-api.service")),
    ("chainnet-explorer.service", include_str!("../../../../deploy/systemd/chainnet-explorer.service")),
    ("chainnet-gateway.service", include_str!("../../../../deploy/systemd/chainnet-gateway.service")),
    ("chainnet-worker.service", include_str!("../../../../deploy/systemd/chainnet-worker.service")),
];

/// The units. `folder` is absolute.
pub(super) fn files(network: Network, folder: &Path) -> anyhow::Result<Vec<NetworkFile>> {
    let folder = plain(folder)?;
    let faucet = match network {
        Network::Devnet | Network::Testnet => Some(FAUCET),
        Network::Mainnet => None,
    };
    let units = [NODE].into_iter().chain(ROLES).chain(faucet);
    Ok(units
        .map(|(name, text)| {
            let text = text
                .replace(NETWORK_FOLDER, folder)
                .replace(&format!("{SETTINGS_FOLDER}/"), &format!("{folder}/env/"));
            NetworkFile::open(format!("systemd/{name}"), text)
        })
        .collect())
}

/// The folder's path, if a unit can hold it without quoting.
pub(super) fn plain(folder: &Path) -> anyhow::Result<&str> {
    let text = folder.to_str().unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+".contains(letter);
    if text.is_empty() || !text.chars().all(is_plain) {
        bail!(
            "the path {} goes into unit and settings files: use letters, digits and . _ - + in it",
            folder.display()
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_the_folders_paths_and_no_others() {
        let files = files(Network::Testnet, Path::new("/data/net-1")).unwrap();
        assert_eq!(files.len(), 6);
        for NetworkFile { path, text, .. } in &files {
            assert!(text.contains("/data/net-1"), "{path}");
            assert!(!text.contains("/srv/") && !text.contains("/etc/"), "{path}: {text}");
        }
        assert_eq!(super::files(Network::Mainnet, Path::new("/data")).unwrap().len(), 5);
        assert!(super::files(Network::Testnet, Path::new("/my data")).is_err());
    }
}
