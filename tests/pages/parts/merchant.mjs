// A merchant's first day, by clicks: sign in, buy a key, save a webhook and try it, send an invoice, be paid, be told.
import { parseEther } from 'viem'

import { Visitor } from '../lib/browser.mjs'
import { startReceiver } from '../lib/receiver.mjs'
import { expect, fail, say } from '../lib/report.mjs'
import { KEYS } from '../lib/seed.mjs'
import { TestWallet } from '../lib/wallet.mjs'

/** The chain that a fresh wallet is on. */
const MAINNET = 1

export async function sellAndBePaid(stage) {
  const { browser, rpc, base, facts, made } = stage
  const wallet = new TestWallet(rpc, { key: KEYS.merchant, chainId: MAINNET })
  const merchant = await Visitor.come(browser, base, { wallet })
  const receiver = await startReceiver()
  const { page } = await merchant.open('/developers')

  const burnedBefore = await settledBurns(base)
  await page.locator('#sign-in').click()
  await page.locator('#dashboard').waitFor()
  made.session = await merchant.context.storageState()
  say('signed in')

  await page.goto('/developers/keys')
  await page.locator('#key-name').fill('shop backend')
  await page.locator('#buy-monthly').click()
  await page.locator('#pay-order').click()
  const key = (await page.locator('#key-secret').innerText()).trim()
  expect(/^pdk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/.test(key), `a developer key, got ${key}`)
  expect(wallet.asked.includes('wallet_addEthereumChain') && wallet.chainId === facts.chainId, 'the wallet to be brought to the chain')
  await copies(page, '[data-copy-from="key-secret"]', key)
  await page.locator('#secret-stored').click()
  await page.locator('#keys').waitFor()
  expect(!(await page.content()).includes(key), 'the secret to be shown once only')
  say('bought a monthly key; its secret was shown once')

  await page.goto('/developers/webhook')
  await page.locator('#webhook-url').fill(receiver.url)
  await page.locator('#save-webhook').click()
  await page.locator('#pay-order').click()
  const secret = (await page.locator('#webhook-secret').innerText()).trim()
  await page.locator('#secret-stored').click()
  await page.locator('#webhook-state').waitFor()
  expect((await page.locator('#webhook-url').inputValue()) === receiver.url, 'the saved URL')
  await page.locator('#test-webhook').click()
  await receiver.next('webhook.test', secret)
  await page.locator('#attempts').getByText('204').waitFor()
  say('saved a webhook for a coin and tried it')

  made.invoice = await createInvoice(page, 'Budi #1042', 150_000)
  const payUrl = (await page.locator('#pay-url').innerText()).trim()
  expect(payUrl.startsWith(`${base}/pay/`), `a payment link to this site, got ${payUrl}`)
  made.paidLink = new URL(payUrl).pathname
  await payAsCustomer(stage, made.paidLink)
  await page.locator('#invoice-state').getByText(/paid/i).waitFor()
  const completed = await receiver.next('payment.completed', secret)
  const paid = await receiver.next('invoice.paid', secret)
  expect(completed.data.payment.txHash === made.payment && paid.data.invoice.id === made.invoice, 'events of this payment')
  say('was paid, and told so by two signed events')

  await createInvoice(page, 'Siti #1043', 75_000)
  made.openLink = new URL((await page.locator('#pay-url').innerText()).trim()).pathname
  await page.goto('/developers')
  const dashboard = await page.locator('main').innerText()
  expect(/150[.,\s]000/.test(dashboard), 'the revenue on the dashboard')
  await page.goto('/developers/webhook')
  const deliveries = await page.locator('#deliveries').innerText()
  for (const kind of ['webhook.test', 'payment.completed', 'invoice.paid']) expect(deliveries.includes(kind), `${kind} among the deliveries`)
  await page.goto('/developers/invoices')
  expect((await page.locator('#invoices').innerText()).includes('Budi #1042'), 'the invoice in the list')
  expect((await burned(base)) - burnedBefore === parseEther('30.3'), '30.3 coin more among the burns')
  say('found it on the dashboard, among deliveries, invoices and burns')

  await revokeAKey(page)
  for (const problem of merchant.takeProblems()) fail(`merchant: ${problem}`)
  made.session = await merchant.context.storageState()
  await merchant.leave()
  receiver.close()
}

async function createInvoice(page, label, amount) {
  await page.goto('/developers/invoices')
  const form = page.locator('#customerLabel')
  if (!(await form.isVisible())) await page.locator('details.card > summary').click()
  await form.fill(label)
  await page.locator('#amountIdr').fill(String(amount))
  await page.locator('#note').fill('Kopi susu 6x')
  await page.locator('#create-invoice').click()
  await page.locator('#invoice-state').waitFor()
  return new URL(page.url()).pathname.split('/').at(-1)
}

/** The customer has a wallet of the older kind, and is on the right chain. */
async function payAsCustomer({ browser, rpc, base, facts, made, screenshots }, link) {
  const wallet = new TestWallet(rpc, { key: KEYS.customer, chainId: facts.chainId, how: 'legacy' })
  const customer = await Visitor.come(browser, base, { wallet, viewport: { width: 390, height: 844 } })
  const { page } = await customer.open(link)
  const bystander = await customer.context.newPage()
  await bystander.goto(link)
  await page.locator('#pay').click()
  await page.locator('#receipt').waitFor()
  await bystander.locator('#payment[data-status="paid"]').waitFor()
  expect((await page.locator('#payment').getAttribute('data-status')) === 'paid', 'the paid state')
  const shown = await page.locator('#receipt a[href^="/tx/"]').getAttribute('href')
  made.payment = shown.split('/').at(-1)
  await page.screenshot({ path: `${screenshots}/pay-receipt-390-light.png`, fullPage: true })
  await page.locator('#receipt a[href^="/tx/"]').click()
  await page.waitForURL(`**/tx/${made.payment}`)
  for (const problem of customer.takeProblems()) fail(`customer: ${problem}`)
  await customer.leave()
  say('paid an invoice; every page that watched it showed so')
}

/** What the portal's fees have burned so far, in wei, and as of which block. */
async function burns(base) {
  const { sources, asOfBlock } = await (await fetch(`${base}/api/v1/fees/burns`)).json()
  return { wei: BigInt(sources.find(({ source }) => source === 'developer-portal').burnedWei), asOfBlock }
}

async function burned(base) {
  return (await burns(base)).wei
}

/** Burns that nothing was added to for four blocks: a fresh chain begins with a shop that buys a key, too. */
async function settledBurns(base) {
  let settled = await burns(base)
  for (;;) {
    const now = await burns(base)
    if (now.wei !== settled.wei) settled = now
    if (now.asOfBlock >= Math.max(settled.asOfBlock + 4, 8)) return settled.wei
    await new Promise((resume) => setTimeout(resume, 200))
  }
}

async function copies(page, button, text) {
  await page.locator(button).click()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied === text, `${text} to be copied, got ${copied}`)
}

/** Takes back the only key, which is asked about first. */
async function revokeAKey(page) {
  await page.goto('/developers/keys')
  await page.locator('.revoke > summary').first().click()
  await page.locator('.revoke button').first().click()
  await page.locator('#keys').getByText(/revoked/i).waitFor()
}
