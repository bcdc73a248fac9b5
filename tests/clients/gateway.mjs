// What is particular to the gateway: a key in a header, refusals as the libraries see them, filters.
import { FetchRequest, JsonRpcProvider } from 'ethers'
import { createPublicClient, http } from 'viem'

import { CHAIN_ID, check, failureOf, runSteps } from './steps.mjs'

const { GATEWAY_URL: url, API_KEY: key } = process.env
const reader = (headers) => createPublicClient({ transport: http(url, { retryCount: 0, fetchOptions: { headers } }) })
const withKey = reader({ 'X-API-Key': key })

/** Status and JSON-RPC error of a request made by hand. */
async function refused(method, headers = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: [] }),
  })
  const { error } = await response.json()
  return `${response.status}/${error?.code}`
}

await runSteps('gateway', {
  'viem with the key in a header': async () => {
    check((await withKey.getChainId()) === CHAIN_ID, 'the chain id')
  },
  'ethers with the key in a header': async () => {
    const request = new FetchRequest(url)
    request.setHeader('X-API-Key', key)
    const { chainId } = await new JsonRpcProvider(request).getNetwork()
    check(chainId === BigInt(CHAIN_ID), 'the chain id')
  },
  'the key as a bearer token': async () => {
    check((await reader({ Authorization: `Bearer ${key}` }).getChainId()) === CHAIN_ID, 'the chain id')
  },
  'no key, a wrong key': async () => {
    check((await refused('eth_blockNumber')) === '401/-40100', '401 without a key')
    check((await refused('eth_blockNumber', { 'X-API-Key': `${key}x` })) === '401/-40100', '401 with a wrong key')
    const error = await failureOf(() => reader({}).getChainId())
    check(error.walk((cause) => cause.code === -40100), `viem to see code -40100, got ${error}`)
  },
  'methods that are blocked': async () => {
    for (const method of ['debug_traceTransaction', 'admin_peers', 'ibft_proposeValidatorVote', 'evm_mine']) {
      const outcome = await refused(method, { 'X-API-Key': key })
      check(outcome === '200/-32601', `-32601 for ${method}, got ${outcome}`)
    }
  },
  'a filter for blocks': async () => {
    const filter = await withKey.createBlockFilter()
    const start = await withKey.getBlockNumber({ cacheTime: 0 })
    let seen = []
    while (seen.length < 2) seen = seen.concat(await withKey.getFilterChanges({ filter }))
    const block = await withKey.getBlock({ blockHash: seen.at(-1) })
    check(block.number > start, 'a block after the filter was made')
    check(await withKey.uninstallFilter({ filter }), 'the filter to be there until now')
  },
})
