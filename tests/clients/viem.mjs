// viem used the ordinary way; the only thing it is told about the chain is `defineChain`.
import {
  createPublicClient,
  createWalletClient,
  decodeErrorResult,
  defineChain,
  getContract,
  http,
  keccak256,
  parseEther,
  parseEventLogs,
  webSocket,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

import { CHAIN_ID, check, counter, failureOf, runSteps, target } from './steps.mjs'

const chain = defineChain({
  id: CHAIN_ID,
  name: 'chainnet devnet',
  blockTime: 2_000,
  nativeCurrency: { name: 'Coin', symbol: 'COIN', decimals: 18 },
  rpcUrls: { default: { http: [target.rpcUrl], webSocket: [target.wsUrl] } },
})
const account = privateKeyToAccount(target.privateKey)
const reader = createPublicClient({ chain, transport: http() })
const wallet = createWalletClient({ chain, account, transport: http() })
const recipient = '0x00000000000000000000000000000000000c1e47'

async function transfer(type, value) {
  const before = await reader.getBalance({ address: recipient })
  const hash = await wallet.sendTransaction({ to: recipient, value, type })
  const receipt = await reader.waitForTransactionReceipt({ hash })
  check(receipt.status === 'success', 'the transfer to succeed')
  check(receipt.type === type, `a receipt of type ${type}, got ${receipt.type}`)
  check(receipt.gasUsed === 21_000n, `21000 gas, got ${receipt.gasUsed}`)
  const after = await reader.getBalance({ address: recipient })
  check(after - before === value, `${value} wei to arrive, got ${after - before}`)
  const transaction = await reader.getTransaction({ hash })
  check(transaction.from.toLowerCase() === account.address.toLowerCase(), 'the signer to be found')
  return `block ${receipt.blockNumber}`
}

let contract
let deployedIn

await runSteps('viem', {
  'chain id': async () => {
    const id = await reader.getChainId()
    check(id === CHAIN_ID, `${CHAIN_ID}, got ${id}`)
  },
  'EIP-1559 transfer': () => transfer('eip1559', parseEther('0.5')),
  'legacy transfer': () => transfer('legacy', parseEther('0.25')),
  'deploy a contract': async () => {
    const hash = await wallet.deployContract({ ...counter, args: [7n] })
    const receipt = await reader.waitForTransactionReceipt({ hash })
    check(receipt.status === 'success' && receipt.contractAddress, 'the deployment to succeed')
    deployedIn = receipt.blockNumber
    contract = getContract({ address: receipt.contractAddress, abi: counter.abi, client: { public: reader, wallet } })
    return receipt.contractAddress
  },
  'read it': async () => check((await contract.read.value()) === 7n, 'the value of the constructor'),
  'estimate gas, then write': async () => {
    const gas = await contract.estimateGas.increase([5n], { account })
    const hash = await contract.write.increase([5n], { gas })
    const receipt = await reader.waitForTransactionReceipt({ hash })
    check(receipt.status === 'success', 'the estimate to suffice')
    const [event] = parseEventLogs({ abi: counter.abi, logs: receipt.logs })
    check(event?.eventName === 'Increased' && event.args.value === 12n, 'the event in the receipt')
    check((await contract.read.value()) === 12n, 'the new value')
    return `${gas} estimated, ${receipt.gasUsed} used`
  },
  'read an old state': async () => {
    const value = await contract.read.value({ blockNumber: deployedIn })
    check(value === 7n, `the value before the write, got ${value}`)
  },
  'logs by topic, decoded': async () => {
    const logs = await contract.getEvents.Increased({ by: account.address }, { fromBlock: deployedIn, strict: true })
    check(logs.length === 1 && logs[0].args.value === 12n, 'one decoded event')
    const none = await contract.getEvents.Increased({ by: recipient }, { fromBlock: deployedIn })
    check(none.length === 0, 'no event of another account')
  },
  'reason of a revert': async () => {
    const error = await failureOf(() => contract.simulate.increase([0n], { account }))
    check(error.message.includes('nothing to add'), `the reason, got ${error.message}`)
  },
  'custom error of a revert': async () => {
    // Besu answers code -32000, geth 3; viem decodes only the latter by itself, so the data is taken from the RPC error.
    const error = await failureOf(() => contract.simulate.increase([101n], { account }))
    const { data } = error.walk((cause) => cause.name === 'RpcRequestError')
    const decoded = decodeErrorResult({ abi: counter.abi, data })
    check(decoded.errorName === 'TooLarge' && decoded.args[0] === 101n, 'the decoded custom error')
  },
  'proof of an account and a slot': async () => {
    const { number, stateRoot } = await reader.getBlock()
    const proof = await reader.getProof({ address: contract.address, storageKeys: [`0x${'0'.repeat(64)}`], blockNumber: number })
    check(keccak256(proof.accountProof[0]) === stateRoot, 'the proof to start at the state root')
    check(keccak256(proof.storageProof[0].proof[0]) === proof.storageHash, 'the slot proof to start at the storage root')
    check(proof.storageProof[0].value === 12n, 'the slot to hold the counter')
  },
  'fee history': async () => {
    const history = await reader.getFeeHistory({ blockCount: 3, rewardPercentiles: [50] })
    check(history.baseFeePerGas.length === 4 && history.reward.length === 3, 'three blocks and the next base fee')
  },
  'a batch': async () => {
    let requests = 0
    const batching = createPublicClient({
      chain,
      transport: http(undefined, { batch: true, onFetchRequest: () => void (requests += 1) }),
    })
    const [id, block, balance] = await Promise.all([
      batching.getChainId(),
      batching.getBlock(),
      batching.getBalance({ address: account.address }),
    ])
    check(id === CHAIN_ID && block.hash && balance > 0n, 'three answers')
    check(requests === 1, `one request, got ${requests}`)
  },
  'newHeads over WebSocket': async () => {
    const transport = webSocket(target.wsUrl)
    const listener = createPublicClient({ chain, transport })
    const heads = []
    await new Promise((resolve, reject) => {
      const stop = listener.watchBlocks({
        onBlock: (block) => {
          heads.push(block.number)
          if (heads.length === 2) resolve(stop())
        },
        onError: reject,
      })
    })
    check(heads[1] === heads[0] + 1n, `consecutive heads, got ${heads}`)
    ;(await listener.transport.getRpcClient()).close()
    return heads.join(', ')
  },
})
