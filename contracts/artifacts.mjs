// Makes every artifact in memory: compiles our sources, reduces the published Safe files, wraps Multicall3.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { COMPILER_SETTINGS, MULTICALL3, OWN, SAFE, here, readJson, require, versionOf } from "./settings.mjs";

const solc = require("solc");

const render = (artifact) => `${JSON.stringify(artifact, null, 1)}\n`;

function compile() {
  const sources = {};
  // The compiler asks for imports by name; the files it was given are part of the artifact's fingerprint.
  const read = (path) => {
    const content = readFileSync(here(path.startsWith("@") ? `node_modules/${path}` : path), "utf8");
    sources[path] = content;
    return content;
  };
  const roots = [...Object.values(OWN), MULTICALL3.interface[0]];
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(roots.map((path) => [path, { content: read(path) }])),
    settings: {
      ...COMPILER_SETTINGS,
      outputSelection: {
        "*": {
          "*": [
            "abi",
            "evm.bytecode.object",
            "evm.deployedBytecode.object",
            "evm.deployedBytecode.immutableReferences",
            "storageLayout",
          ],
        },
      },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: (path) => ({ contents: read(path) }) }));
  const messages = output.errors ?? [];
  if (messages.length > 0) throw new Error(messages.map((m) => m.formattedMessage).join("\n"));
  return { contracts: output.contracts, sources };
}

function fingerprint(sources) {
  const hash = createHash("sha256");
  for (const path of Object.keys(sources).sort()) hash.update(`${path}\0${sources[path]}\0`);
  return hash.digest("hex");
}

/** Storage as slot, offset, label and type: the layout without the compiler's internal node numbers. */
function storageOf(layout) {
  return layout.storage.map(({ label, slot, offset, type }) => ({
    label,
    slot,
    offset,
    type: layout.types[type].label,
  }));
}

function ownArtifact(name, compiled, sourcesSha256) {
  const contract = compiled[OWN[name]][name];
  const deployed = contract.evm.deployedBytecode;
  return {
    contractName: name,
    source: `contracts/${OWN[name]}`,
    license: "MIT OR Apache-2.0",
    compiler: solc.version(),
    settings: COMPILER_SETTINGS,
    sourcesSha256,
    // Byte ranges of the runtime code that the constructor fills in.
    immutables: Object.values(deployed.immutableReferences ?? {}).flat(),
    storage: storageOf(contract.storageLayout),
    abi: contract.abi,
    bytecode: `0x${contract.evm.bytecode.object}`,
    deployedBytecode: `0x${deployed.object}`,
  };
}

function safeArtifact(name, path) {
  const published = readJson(here(`node_modules/@safe-global/safe-contracts/build/artifacts/contracts/${path}/${name}.json`));
  return {
    contractName: name,
    source: `@safe-global/safe-contracts ${versionOf("@safe-global/safe-contracts")}, contracts/${path}`,
    license: "LGPL-3.0-only",
    abi: published.abi,
    bytecode: published.bytecode,
    deployedBytecode: published.deployedBytecode,
  };
}

function multicall3Artifact(compiled) {
  const [path, name] = MULTICALL3.interface;
  return {
    contractName: "Multicall3",
    source: `runtime code published at ${MULTICALL3.address}; only the ABI is compiled here, from contracts/${path}`,
    license: "MIT",
    abi: compiled[path][name].abi,
    deployedBytecode: `0x${readFileSync(MULTICALL3.runtime, "utf8").replaceAll(/\s/g, "")}`,
  };
}

/** Name and text of every artifact file. */
export function makeArtifacts() {
  const { contracts, sources } = compile();
  const sourcesSha256 = fingerprint(sources);
  const artifacts = [
    ...Object.keys(OWN).map((name) => ownArtifact(name, contracts, sourcesSha256)),
    ...SAFE.map(([name, path]) => safeArtifact(name, path)),
    multicall3Artifact(contracts),
  ];
  return artifacts.map((artifact) => [`${artifact.contractName}.json`, render(artifact)]);
}
