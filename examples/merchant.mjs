// A merchant's first day: sign in, buy a key, save a webhook, send an invoice, be paid and be told.
//
//   cargo run --release                 # in another terminal: the network with everything
//   npm ci && node merchant.mjs
//
// API_URL and RPC_URL say where the network is; MERCHANT_KEY and CUSTOMER_KEY are private keys of accounts with coin.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'

import { SiweMessage } from 'siwe'
import { Webhook } from 'standardwebhooks'
import { createPublicClient, createWalletClient, formatEther, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const {
  API_URL = 'http://127.0.0.1:4000',
  RPC_URL = 'http://127.0.0.1:8545',
  // Two well-known accounts of the devnet. Never use them elsewhere.
  MERCHANT_KEY = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  CUSTOMER_KEY = '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
} = process.env

const portal = `${API_URL}/api/v1/platform-dev`
const merchant = privateKeyToAccount(MERCHANT_KEY)
const customer = privateKeyToAccount(CUSTOMER_KEY)
const reader = createPublicClient({ transport: http(RPC_URL), pollingInterval: 200 })

const say = (line) => console.log(`ok ${line}`)

function expect(condition, what) {
  if (!condition) throw new Error(`expected ${what}`)
}

/** Asks the API; `status` is what the answer must have. */
async function ask(method, url, { status = 200, body, headers = {} } = {}) {
  const response = await fetch(url, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    body: body && JSON.stringify(body),
  })
  const text = await response.text()
  if (response.status !== status) throw new Error(`${method} ${url}: ${response.status} instead of ${status}: ${text}`)
  return text ? JSON.parse(text) : undefined
}

/** Sends a transaction that the API has prepared, and waits for its block. */
async function send(account, { to, value, data }) {
  const wallet = createWalletClient({ account, transport: http(RPC_URL) })
  const hash = await wallet.sendTransaction({ to, value: BigInt(value), data, chain: null })
  const receipt = await reader.waitForTransactionReceipt({ hash })
  expect(receipt.status === 'success', `${hash} to succeed`)
  return hash
}

/** A webhook receiver: keeps what it gets, and answers 204. */
async function startReceiver() {
  const received = []
  const waiting = []
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({ headers: request.headers, body: Buffer.concat(chunks) })
    response.writeHead(204).end()
    waiting.splice(0).forEach((wake) => wake())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    close: () => server.close(),
    /** The next delivery that was not taken yet. */
    async next() {
      const deadline = AbortSignal.timeout(30_000)
      while (received.length === 0) {
        deadline.throwIfAborted()
        await Promise.race([new Promise((wake) => waiting.push(wake)), once(deadline, 'abort')])
      }
      return received.shift()
    },
  }
}

/** Checks a delivery twice: by hand over the raw body, and with the Standard Webhooks library. */
function verify({ headers, body }, secret, type) {
  const expected = createHmac('sha256', secret).update(body).digest()
  const given = Buffer.from(headers['x-platform-signature'].replace(/^sha256=/, ''), 'hex')
  expect(given.length === expected.length && timingSafeEqual(given, expected), 'a valid X-Platform-Signature')
  const event = new Webhook(secret).verify(body.toString('utf8'), headers)
  expect(headers['x-platform-event'] === type && event.type === type, `a ${type}, got ${event.type}`)
  return event
}

// 1. Sign in: sign the text that the server made.
const challenge = await ask('POST', `${portal}/session/challenge`, { status: 201, body: { address: merchant.address } })
const parsed = new SiweMessage(challenge.message)
expect(parsed.address === merchant.address && parsed.requestId === challenge.challengeId, 'a challenge for this wallet')
const signature = await merchant.signMessage({ message: challenge.message })
const session = await ask('POST', `${portal}/session`, {
  status: 201,
  body: { challengeId: challenge.challengeId, signature },
})
const asWallet = { Authorization: `Bearer ${session.token}` }
say(`signed in as ${session.address}`)

// 2. Buy a monthly key: the first request says what to pay, the second one collects.
const burnsBefore = await ask('GET', `${API_URL}/api/v1/fees/burns`)
const { order } = await ask('POST', `${portal}/keys`, {
  status: 402,
  headers: asWallet,
  body: { plan: 'monthly', name: 'shop backend' },
})
expect(order.amount === '100', `a price of 100 coin, got ${order.amount}`)
const paidWith = await send(merchant, order.payment)
const bought = await ask('POST', `${portal}/keys`, {
  status: 201,
  headers: asWallet,
  body: { orderId: order.id, txHash: paidWith },
})
const asKey = { 'X-Platform-Dev-Key': bought.secret }
say(`bought key ${bought.key.id}, good until ${bought.key.expiresAt}`)

// 3. Save a webhook. The first URL costs one coin.
const receiver = await startReceiver()
const fee = await ask('POST', `${portal}/webhooks`, { status: 402, headers: asWallet, body: { url: receiver.url } })
expect(fee.order.amount === '1', `a fee of 1 coin, got ${fee.order.amount}`)
await send(merchant, fee.order.payment)
let saved
// The payment counts once its block is credited, a moment after it is mined.
for (let tries = 0; !saved; tries += 1) {
  const response = await fetch(`${portal}/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...asWallet },
    body: JSON.stringify({ url: receiver.url }),
  })
  if (response.status === 201) saved = await response.json()
  else if (tries === 50 || response.status !== 402) throw new Error(`saving the webhook: ${await response.text()}`)
  else await new Promise((resume) => setTimeout(resume, 100))
}
const { secret } = saved
say(`saved webhook ${saved.webhook.url}`)

// 4. Try it out.
const tried = await ask('POST', `${portal}/webhooks/test`, { headers: asWallet })
verify(await receiver.next(), secret, 'webhook.test')
say(`tested the webhook: ${tried.response.status} in ${tried.response.latencyMs} ms`)

// 5. Send an invoice. A repeated request with the same Idempotency-Key makes no second one.
const create = {
  status: 201,
  headers: { ...asKey, 'Idempotency-Key': 'order-1042' },
  body: { customerLabel: 'Budi #1042', amountIdr: 150_000, note: 'Kopi susu 6x' },
}
const { invoice } = await ask('POST', `${portal}/v1/invoices`, create)
const repeated = await ask('POST', `${portal}/v1/invoices`, create)
expect(repeated.invoice.id === invoice.id, 'the same invoice for the same Idempotency-Key')
say(`created invoice ${invoice.id}: ${invoice.payUrl}`)

// 6. The customer opens the link, asks for a price in coin and pays it from another wallet.
const token = invoice.payUrl.split('/').at(-1)
const { quote } = await ask('POST', `${portal}/pay/${token}/quote`)
const balance = () => reader.getBalance({ address: merchant.address })
const before = await balance()
const payment = await send(customer, quote.tx)
expect((await balance()) - before === BigInt(quote.amountWei), 'the exact amount at the merchant')
say(`paid ${quote.amount} coin at Rp ${quote.rate.idrPerCoin} in ${payment}`)

// 7. The webhook is told, in this order.
const completed = verify(await receiver.next(), secret, 'payment.completed')
const paid = verify(await receiver.next(), secret, 'invoice.paid')
expect(completed.data.payment.txHash === payment && paid.data.invoice.id === invoice.id, 'events of this payment')
expect(paid.sequence === completed.sequence + 1, 'events in sequence')
say('received payment.completed and invoice.paid with valid signatures')

// 8. It is in the list, on the dashboard and among the burns.
const { invoices } = await ask('GET', `${portal}/v1/invoices?status=paid`, { headers: asKey })
expect(invoices.some(({ id, status }) => id === invoice.id && status === 'paid'), 'the invoice among the paid ones')
const dashboard = await ask('GET', `${portal}/v1/dashboard`, { headers: asKey })
expect(dashboard.invoices.paid >= 1 && dashboard.revenue.idr >= 150_000, 'the revenue on the dashboard')
const burns = await ask('GET', `${API_URL}/api/v1/fees/burns`)
const grown = (field) => {
  const of = ({ sources }) => BigInt(sources.find(({ source }) => source === 'developer-portal')[field])
  return formatEther(of(burns) - of(burnsBefore))
}
expect(grown('burnedWei') === '30.3' && grown('heldWei') === '70.7', '30.3 coin burned and 70.7 held')
say(`101 coin in fees: ${grown('burnedWei')} burned, ${grown('heldWei')} held`)

receiver.close()
console.log('ok the whole story')
