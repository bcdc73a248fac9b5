// A wallet for tests: announces itself in the page as wallets do (EIP-6963, EIP-1193) and signs here, with a key of its own.
import { createPublicClient, createWalletClient, hexToBigInt, http, numberToHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

/** Codes of EIP-1193 and EIP-3085. */
const REFUSED = 4001
const UNKNOWN_METHOD = 4200
const UNKNOWN_CHAIN = 4902

const refusal = (code, message) => Object.assign(new Error(message), { code })

export class TestWallet {
  /** Methods that were asked for, in order. */
  asked = []
  /** Methods that its owner declines. */
  declines = new Set()
  /** Chains it knows, beside the one it is on. */
  knows = new Set()
  isConnected = false

  /** `how` is `6963`, or `legacy` for wallets that only set `window.ethereum`. */
  constructor(rpc, { key = generatePrivateKey(), chainId, how = '6963', name = 'Test Wallet' }) {
    this.account = privateKeyToAccount(key)
    this.address = this.account.address
    this.chainId = chainId
    this.how = how
    this.name = name
    this.reader = createPublicClient({ transport: http(rpc), pollingInterval: 200 })
    this.writer = createWalletClient({ account: this.account, transport: http(rpc) })
  }

  /** Makes it a part of every page of a context. */
  async plugInto(context) {
    await context.exposeFunction('__askWallet', async (method, params) => {
      try {
        return { result: await this.#answer(method, params ?? []) }
      } catch (error) {
        return { error: { code: error.code ?? -32000, message: error.details ?? error.shortMessage ?? error.message } }
      }
    })
    await context.addInitScript(announce, { how: this.how, name: this.name })
  }

  async #answer(method, params) {
    this.asked.push(method)
    if (this.declines.has(method)) throw refusal(REFUSED, 'User rejected the request.')
    switch (method) {
      case 'eth_requestAccounts':
        this.isConnected = true
        return [this.address.toLowerCase()]
      case 'eth_accounts':
        return this.isConnected ? [this.address.toLowerCase()] : []
      case 'eth_chainId':
        return numberToHex(this.chainId)
      case 'personal_sign':
        return this.account.signMessage({ message: /^0x[0-9a-f]*$/i.test(params[0]) ? { raw: params[0] } : params[0] })
      case 'wallet_switchEthereumChain':
        return this.#switchTo(Number(params[0].chainId))
      case 'wallet_addEthereumChain':
        return this.#add(params[0])
      case 'eth_sendTransaction':
        return this.#send(params[0])
      default:
        if (!method.startsWith('eth_')) throw refusal(UNKNOWN_METHOD, `no ${method} here`)
        return this.reader.request({ method, params })
    }
  }

  #switchTo(chainId) {
    if (!this.knows.has(chainId)) throw refusal(UNKNOWN_CHAIN, `Unrecognized chain ID "${numberToHex(chainId)}".`)
    this.chainId = chainId
    return null
  }

  /** As strict as the wallet that most people have. */
  #add({ chainId, chainName, nativeCurrency, rpcUrls, blockExplorerUrls }) {
    const isHex = typeof chainId === 'string' && /^0x[1-9a-f][0-9a-f]*$/.test(chainId)
    const isNamed = typeof chainName === 'string' && chainName.length > 0
    const isCoin = nativeCurrency?.decimals === 18 && /^.{2,6}$/.test(nativeCurrency?.symbol ?? '')
    const isLinked = [rpcUrls, blockExplorerUrls].every((urls) => Array.isArray(urls) && urls.every((url) => URL.canParse(url)))
    if (!isHex || !isNamed || !isCoin || !isLinked) throw refusal(-32602, 'Invalid chain parameters.')
    this.knows.add(Number(chainId))
    this.chainId = Number(chainId)
    return null
  }

  async #send({ from, to, value = '0x0', data, chainId }) {
    if (from.toLowerCase() !== this.address.toLowerCase()) throw refusal(4100, 'not an account of this wallet')
    const actual = await this.reader.getChainId()
    if (this.chainId !== actual || (chainId && Number(chainId) !== actual)) throw refusal(4901, 'on another chain')
    return this.writer.sendTransaction({ to, value: hexToBigInt(value), data, chain: null })
  }
}

/** Runs in the page, before its own scripts. */
function announce({ how, name }) {
  const listeners = {}
  const provider = {
    isTestWallet: true,
    async request({ method, params }) {
      const { result, error } = await window.__askWallet(method, params)
      if (error) throw Object.assign(new Error(error.message), { code: error.code })
      return result
    },
    on: (event, listener) => void (listeners[event] ??= []).push(listener),
    removeListener: () => {},
  }
  if (how === 'legacy') {
    window.ethereum = provider
    return
  }
  const info = { uuid: '350670db-19fa-4704-a166-e52e178b59d2', name, icon: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>', rdns: 'example.wallet' }
  const tell = () =>
    window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }))
  window.addEventListener('eip6963:requestProvider', tell)
  tell()
}
