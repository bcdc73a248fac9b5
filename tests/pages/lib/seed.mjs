// Something to look at: transactions of every kind that the pages tell apart.
import { readFileSync } from 'node:fs'

import { createPublicClient, createWalletClient, encodeDeployData, encodeFunctionData, getAddress, http, parseAbi, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** Well-known accounts of the devnet. */
export const KEYS = {
  seeder: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  merchant: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  customer: '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
}
export const REGISTRY = '0x0000000000000000000000000000000000008801'

const counter = JSON.parse(readFileSync(new URL('../../clients/Counter.json', import.meta.url)))
const registry = parseAbi(['function claimRewards()'])

/** Sends one of each and returns where they are. */
export async function seed(rpc) {
  const account = privateKeyToAccount(KEYS.seeder)
  const reader = createPublicClient({ transport: http(rpc), pollingInterval: 200 })
  const writer = createWalletClient({ account, transport: http(rpc), chain: null })
  let nonce = await reader.getTransactionCount({ address: account.address })
  const send = (transaction) => writer.sendTransaction({ nonce: nonce++, gas: 500_000n, ...transaction })
  const transfers = []
  for (let index = 0; index < 20; index += 1) {
    const to = `0x${(index + 1).toString(16).padStart(2, '0').repeat(20)}`
    transfers.push(await send({ to, value: parseEther('1.25') * BigInt(index + 1) }))
  }
  const deploy = await send({ data: encodeDeployData({ abi: counter.abi, bytecode: counter.bytecode, args: [7n] }) })
  const failed = await send({ to: REGISTRY, data: encodeFunctionData({ abi: registry, functionName: 'claimRewards' }) })
  const note = await send({ to: account.address, data: '0xdeadbeef00112233445566778899aabbccddeeff' })
  const receipts = await Promise.all([transfers[0], deploy, failed, note].map((hash) => reader.waitForTransactionReceipt({ hash })))
  const [transferred, deployed] = receipts
  return {
    chainId: await reader.getChainId(),
    seeder: account.address,
    transfer: transfers[0],
    block: Number(transferred.blockNumber),
    blockHash: transferred.blockHash,
    deploy,
    contract: getAddress(deployed.contractAddress),
    failed,
    note,
  }
}
