// The product as a child process of the tests.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { until } from './report.mjs'

/** Starts `chainnet` with these arguments and waits until it has printed an address behind `marker`. */
export async function startChainnet(binary, args, marker, env = {}) {
  const child = spawn(binary, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += chunk))
  const addressOf = (word) => new RegExp(`^  ${word} +(http://127\\.0\\.0\\.1:\\d+)`, 'm').exec(out)?.[1]
  const process_ = {
    addressOf,
    async stop() {
      if (child.exitCode !== null || child.signalCode) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
  process.once('exit', () => child.kill('SIGKILL'))
  await until(`${marker} of chainnet ${args[0]}`, () => {
    if (child.exitCode !== null) throw new Error(`chainnet ${args[0]} ended: ${out}`)
    return addressOf(marker)
  }, { patience: 30_000 })
  return process_
}

/** Runs an operator's command to its end. */
export async function runChainnet(binary, ...args) {
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`chainnet ${args.join(' ')}: ${out}`)
  return out
}
