// Proves that the committed artifacts are what the sources and the published packages give, byte for byte, and that
// the code of others is the code at its well-known address. Exit code 1 names every difference.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { makeArtifacts } from "./artifacts.mjs";
import { ARTIFACTS, MULTICALL3, SAFE, here, readJson, require } from "./settings.mjs";

const { keccak256 } = require("js-sha3");
const problems = [];

const expected = new Map(makeArtifacts());
for (const [file, text] of expected) {
  const path = ARTIFACTS + file;
  if (!existsSync(path)) problems.push(`${file} is missing: run \`npm run build\``);
  else if (readFileSync(path, "utf8") !== text) problems.push(`${file} differs from its sources: run \`npm run build\``);
}
for (const file of readdirSync(ARTIFACTS)) {
  if (!expected.has(file)) problems.push(`${file} has no source: delete it`);
}

function compareCodeHash(name, codeHash) {
  const { deployedBytecode } = JSON.parse(expected.get(`${name}.json`));
  const actual = `0x${keccak256(Buffer.from(deployedBytecode.slice(2), "hex"))}`;
  if (actual !== codeHash) problems.push(`${name} has code hash ${actual}, its canonical deployment ${codeHash}`);
}
compareCodeHash("Multicall3", MULTICALL3.codeHash);
for (const [name, , record] of SAFE) {
  if (record === null) continue;
  const path = here(`node_modules/@safe-global/safe-deployments/dist/assets/v1.4.1/${record}.json`);
  compareCodeHash(name, readJson(path).deployments.canonical.codeHash);
}

if (readFileSync(here("package-lock.json"), "utf8").includes('"resolved"')) {
  problems.push("package-lock.json names download addresses: install with the settings of .npmrc");
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${expected.size} artifacts are up to date`);
