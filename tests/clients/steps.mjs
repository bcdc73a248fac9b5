// What the JavaScript scripts share: where the node is, and one printed line per step.
// Arguments: RPC URL, WebSocket URL, private key; or RPC_URL, WS_URL, PRIVATE_KEY in the environment.
// CHAIN_ID in the environment replaces the devnet's.
import { readFileSync } from 'node:fs'

const TIME_LIMIT_MS = 120_000
export const CHAIN_ID = Number(process.env.CHAIN_ID ?? 8845)

const [, , rpcUrl = process.env.RPC_URL, wsUrl = process.env.WS_URL, privateKey = process.env.PRIVATE_KEY] =
  process.argv
if (!rpcUrl || !wsUrl || !privateKey) {
  console.error('needs an RPC URL, a WebSocket URL and the private key of a funded account')
  process.exit(2)
}
export const target = { rpcUrl, wsUrl, privateKey }

export const counter = JSON.parse(readFileSync(new URL('Counter.json', import.meta.url), 'utf8'))

export function check(condition, expectation) {
  if (!condition) throw new Error(`expected ${expectation}`)
}

/** Resolves to what `run` fails with: steps that must fail look at the error. */
export async function failureOf(run) {
  try {
    await run()
  } catch (error) {
    return error
  }
  throw new Error('expected a failure, got an answer')
}

/** Runs named steps in order; the first failure or the time limit ends the process with code 1. */
export async function runSteps(library, steps) {
  let current = 'start'
  const timer = setTimeout(() => {
    console.error(`FAILED ${library}: ${current}: no answer within ${TIME_LIMIT_MS / 1000} s`)
    process.exit(1)
  }, TIME_LIMIT_MS)
  try {
    for (const [name, run] of Object.entries(steps)) {
      current = name
      const detail = await run()
      console.log(`ok ${library}: ${name}${detail === undefined ? '' : ` (${detail})`}`)
    }
  } catch (error) {
    console.error(`FAILED ${library}: ${current}: ${error.stack ?? error}`)
    process.exit(1)
  }
  clearTimeout(timer)
}
