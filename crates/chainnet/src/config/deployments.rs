//! The deployment records: the built-in ones, and a folder whose files replace them.

use std::{fs, io::ErrorKind, path::Path};

use domain::{Deployment, Network};

use super::problem::Problem;

/// The records of all networks.
#[derive(Debug)]
pub struct Deployments {
    devnet: Deployment,
    testnet: Deployment,
    mainnet: Deployment,
}

impl Deployments {
    /// Reads the built-in records, and those of `folder` in their place. The folder must hold the record of the `active`
    /// network; the others are only shown, so they may be missing.
    pub(super) fn read(folder: Option<&Path>, active: Network) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut read = |network| {
            read_one(folder, network, network == active).map_err(|problem| problems.push(problem)).ok()
        };
        let records = (read(Network::Devnet), read(Network::Testnet), read(Network::Mainnet));
        match records {
            (Some(devnet), Some(testnet), Some(mainnet)) => Ok(Self { devnet, testnet, mainnet }),
            _ => Err(problems),
        }
    }

    /// The record of a network.
    pub fn of(&self, network: Network) -> &Deployment {
        match network {
            Network::Devnet => &self.devnet,
            Network::Testnet => &self.testnet,
            Network::Mainnet => &self.mainnet,
        }
    }
}

/// The record that is compiled into the binary.
pub(crate) fn built_in(network: Network) -> &'static str {
    match network {
        Network::Devnet => include_str!("../../../../deployments/devnet.json"),
        Network::Testnet => include_str!("../../../../deployments/testnet.json"),
        Network::Mainnet => include_str!("../../../../deployments/mainnet.json"),
    }
}

fn read_one(folder: Option<&Path>, network: Network, is_needed: bool) -> Result<Deployment, Problem> {
    let name = format!("{network}.json");
    let Some(folder) = folder else { return parse(network, &format!("built-in {name}"), built_in(network)) };
    let path = folder.join(name);
    match fs::read_to_string(&path) {
        Ok(text) => parse(network, &path.display().to_string(), &text),
        Err(error) if error.kind() == ErrorKind::NotFound && !is_needed => read_one(None, network, false),
        Err(error) => Err(Problem {
            place: format!("deployment record {}", path.display()),
            what: format!("cannot be read: {error}"),
        }),
    }
}

fn parse(network: Network, name: &str, text: &str) -> Result<Deployment, Problem> {
    let refuse = |what: String| Problem { place: format!("deployment record {name}"), what };
    let record = Deployment::from_json(network, text).map_err(|error| refuse(error.to_string()))?;
    // The genesis puts the contracts at the same addresses everywhere, and the index looks for them there.
    for ((contract, recorded), (_, address)) in
        record.contracts.named().into_iter().zip(contracts::address::PREDEPLOYED)
    {
        if recorded != address {
            return Err(refuse(format!("key `contracts.{contract}`: {recorded}, expected {address}")));
        }
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_records_are_those_of_the_genesis() {
        let deployments = Deployments::read(None, Network::Devnet).unwrap();
        for network in Network::ALL {
            let record = deployments.of(network);
            assert_eq!(record.contracts.named(), contracts::address::PREDEPLOYED);
            assert_eq!(record.validators as usize, crate::keys::GENESIS_VALIDATORS);
            assert_eq!(record.start_block, 0);
            assert_eq!(record.rpc_url, None, "the operator names the nodes");
        }
        assert!(deployments.of(Network::Mainnet).urls.faucet.is_none());
    }

    #[test]
    fn a_folder_replaces_records_and_must_hold_the_active_one() {
        let folder = tempfile::tempdir().unwrap();
        let problems = Deployments::read(Some(folder.path()), Network::Testnet).unwrap_err();
        assert!(problems[0].to_string().contains("testnet.json"), "{problems:?}");

        let record = built_in(Network::Testnet).replace("\"PNC\"", "\"XYZ\"");
        fs::write(folder.path().join("testnet.json"), record).unwrap();
        let deployments = Deployments::read(Some(folder.path()), Network::Testnet).unwrap();
        assert_eq!(deployments.of(Network::Testnet).wallet.native_currency.symbol, "XYZ");
        assert_eq!(deployments.of(Network::Devnet).wallet.native_currency.symbol, "PNC");
    }

    #[test]
    fn a_bad_record_is_named_with_its_key_even_when_it_is_not_the_active_one() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("devnet.json"), built_in(Network::Devnet)).unwrap();
        let moved = built_in(Network::Mainnet).replace("8801\"", "8802\"");
        fs::write(folder.path().join("mainnet.json"), moved).unwrap();
        let problems = Deployments::read(Some(folder.path()), Network::Devnet).unwrap_err();
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        let text = problem.to_string();
        assert!(
            text.contains("mainnet.json") && text.contains("contracts.PlatformValidatorRegistry"),
            "{text}"
        );
    }
}
