// Writes the artifacts that the Rust crate includes. Run after a change of a source, then commit both.
import { mkdirSync, writeFileSync } from "node:fs";
import { makeArtifacts } from "./artifacts.mjs";
import { ARTIFACTS } from "./settings.mjs";

mkdirSync(ARTIFACTS, { recursive: true });
for (const [file, text] of makeArtifacts()) {
  writeFileSync(ARTIFACTS + file, text);
  const { deployedBytecode } = JSON.parse(text);
  console.log(`${file}: ${deployedBytecode.length / 2 - 1} bytes of code`);
}
