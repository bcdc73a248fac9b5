// What is built, from where, and how: shared by build.mjs and check.mjs.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

export const require = createRequire(import.meta.url);
export const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Where the Rust crate includes the artifacts from. */
export const ARTIFACTS = here("../crates/contracts/artifacts/");

/** Our contracts, by the file that defines them. */
export const OWN = {
  PlatformValidatorRegistry: "src/PlatformValidatorRegistry.sol",
  PlatformFees: "src/PlatformFees.sol",
  PlatformCheckout: "src/PlatformCheckout.sol",
  SignatureValidator: "src/SignatureValidator.sol",
};

/** Compiled for its ABI only; the code is the published one. */
export const MULTICALL3 = {
  interface: ["src/interfaces/IMulticall3.sol", "IMulticall3"],
  runtime: here("vendor/multicall3.runtime.hex"),
  address: "0xcA11bde05977b3631167028862bE2a173976CA11",
  codeHash: "0xd5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891",
};

/** Safe 1.4.1: contract, its path in the package, and the record of its canonical deployment where there is one. */
export const SAFE = [
  ["SafeL2", "SafeL2.sol", "safe_l2"],
  ["SafeProxy", "proxies/SafeProxy.sol", null],
  ["SafeProxyFactory", "proxies/SafeProxyFactory.sol", "safe_proxy_factory"],
  ["CompatibilityFallbackHandler", "handler/CompatibilityFallbackHandler.sol", "compatibility_fallback_handler"],
  ["MultiSendCallOnly", "libraries/MultiSendCallOnly.sol", "multi_send_call_only"],
];

// London, because its code runs unchanged on London and Shanghai chains. No metadata in the code, so that it depends
// on nothing but the sources and these settings.
export const COMPILER_SETTINGS = {
  evmVersion: "london",
  optimizer: { enabled: true, runs: 200 },
  metadata: { bytecodeHash: "none", appendCBOR: false },
};

export const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));
export const versionOf = (name) => readJson(here(`node_modules/${name}/package.json`)).version;
