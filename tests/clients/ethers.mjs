// ethers v6 used the ordinary way.
import { Contract, ContractFactory, JsonRpcProvider, Wallet, WebSocketProvider, ZeroHash, keccak256, parseEther, toQuantity } from 'ethers'

import { CHAIN_ID, check, counter, failureOf, runSteps, target } from './steps.mjs'

const provider = new JsonRpcProvider(target.rpcUrl, undefined, { polling: true, pollingInterval: 500 })
const wallet = new Wallet(target.privateKey, provider)
const recipient = '0x00000000000000000000000000000000000C1E46'.toLowerCase()

async function transfer(type, value) {
  const before = await provider.getBalance(recipient)
  const response = await wallet.sendTransaction({ to: recipient, value, type })
  const receipt = await response.wait()
  check(receipt.status === 1 && receipt.type === type, `a successful receipt of type ${type}, got ${receipt.type}`)
  check(receipt.gasUsed === 21_000n, `21000 gas, got ${receipt.gasUsed}`)
  const after = await provider.getBalance(recipient)
  check(after - before === value, `${value} wei to arrive, got ${after - before}`)
  const transaction = await provider.getTransaction(response.hash)
  check(transaction.from === wallet.address, 'the signer to be found')
  return `block ${receipt.blockNumber}`
}

let contract
let deployedIn

await runSteps('ethers', {
  'chain id': async () => {
    const { chainId } = await provider.getNetwork()
    check(chainId === BigInt(CHAIN_ID), `${CHAIN_ID}, got ${chainId}`)
  },
  'EIP-1559 transfer': () => transfer(2, parseEther('0.5')),
  'legacy transfer': () => transfer(0, parseEther('0.25')),
  'deploy a contract': async () => {
    const deployed = await new ContractFactory(counter.abi, counter.bytecode, wallet).deploy(7n)
    deployedIn = (await deployed.deploymentTransaction().wait()).blockNumber
    const address = await deployed.getAddress()
    contract = new Contract(address, counter.abi, wallet)
    return address
  },
  'read it': async () => check((await contract.value()) === 7n, 'the value of the constructor'),
  'estimate gas, then write': async () => {
    const gasLimit = await contract.increase.estimateGas(5n)
    const receipt = await (await contract.increase(5n, { gasLimit })).wait()
    const event = contract.interface.parseLog(receipt.logs[0])
    check(event.name === 'Increased' && event.args.value === 12n, 'the event in the receipt')
    check((await contract.value()) === 12n, 'the new value')
    return `${gasLimit} estimated, ${receipt.gasUsed} used`
  },
  'read an old state': async () => {
    const value = await contract.value({ blockTag: deployedIn })
    check(value === 7n, `the value before the write, got ${value}`)
  },
  'logs by topic, decoded': async () => {
    const logs = await contract.queryFilter(contract.filters.Increased(wallet.address), deployedIn)
    check(logs.length === 1 && logs[0].args.value === 12n, 'one decoded event')
    const none = await contract.queryFilter(contract.filters.Increased(recipient), deployedIn)
    check(none.length === 0, 'no event of another account')
  },
  'reason of a revert': async () => {
    const error = await failureOf(() => contract.increase.staticCall(0n))
    check(error.reason === 'nothing to add', `the reason, got ${error.message}`)
  },
  'custom error of a revert': async () => {
    const error = await failureOf(() => contract.increase.staticCall(101n))
    check(error.revert?.name === 'TooLarge' && error.revert.args[0] === 101n, `the decoded custom error, got ${error.message}`)
  },
  'proof of an account and a slot': async () => {
    const block = await provider.getBlock('latest')
    const { stateRoot } = await provider.send('eth_getBlockByNumber', [toQuantity(block.number), false])
    const proof = await provider.send('eth_getProof', [await contract.getAddress(), [ZeroHash], toQuantity(block.number)])
    check(keccak256(proof.accountProof[0]) === stateRoot, 'the proof to start at the state root')
    check(BigInt(proof.storageProof[0].value) === 12n, 'the slot to hold the counter')
  },
  'fee history': async () => {
    const history = await provider.send('eth_feeHistory', ['0x3', 'latest', [50]])
    check(history.baseFeePerGas.length === 4 && history.reward.length === 3, 'three blocks and the next base fee')
    const { gasPrice } = await provider.getFeeData()
    check(gasPrice !== null, 'a gas price')
  },
  'a batch': async () => {
    // ethers joins calls of the same moment into one request; the debug event shows what left.
    let largest = 0
    const count = ({ action, payload }) => {
      if (action === 'sendRpcPayload') largest = Math.max(largest, Array.isArray(payload) ? payload.length : 1)
    }
    await provider.on('debug', count)
    const [number, block, balance] = await Promise.all([
      provider.send('eth_blockNumber', []),
      provider.send('eth_getBlockByNumber', ['latest', true]),
      provider.send('eth_getBalance', [wallet.address, 'latest']),
    ])
    await provider.off('debug', count)
    check(BigInt(number) > 0n && block.hash && BigInt(balance) > 0n, 'three answers')
    check(largest >= 3, `one request for all, got at most ${largest} in one`)
  },
  'newHeads over WebSocket': async () => {
    const socket = new WebSocketProvider(target.wsUrl)
    const heads = []
    await new Promise((resolve) =>
      socket.on('block', (number) => {
        heads.push(number)
        if (heads.length === 2) resolve()
      }),
    )
    await socket.destroy()
    check(heads[1] === heads[0] + 1, `consecutive heads, got ${heads}`)
    return heads.join(', ')
  },
})
provider.destroy()
