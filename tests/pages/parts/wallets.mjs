// What a page says when a wallet is missing, refuses, is on another chain or has no coin.
import { Visitor } from '../lib/browser.mjs'
import { expect, fail, say } from '../lib/report.mjs'
import { TestWallet } from '../lib/wallet.mjs'

const MAINNET = 1

export async function connectWallets(stage) {
  await withWallet(stage, undefined, '/developers', async (page) => {
    await page.locator('#sign-in').click()
    await told(page, /wallet/i, 'that there is no wallet')
  })
  await withWallet(stage, { declines: ['eth_requestAccounts'] }, '/developers', async (page, wallet) => {
    await page.locator('#sign-in').click()
    const words = await told(page, /\w/, 'of the refusal to connect')
    wallet.declines = new Set(['personal_sign'])
    await page.locator('#sign-in').click()
    expect((await told(page, /\w/, 'of the refusal to sign')) === words, 'one word for a refusal')
    wallet.declines.clear()
    await page.locator('#sign-in').click()
    await page.locator('#dashboard').waitFor()
    await page.locator('#sign-out').click()
    await page.locator('#sign-in').waitFor()
  })
  say('a refusal is told, and can be thought over; signing out works')
  if (stage.made.openLink) await payWithTrouble(stage)
  await withWallet(stage, { chainId: MAINNET }, '/network', async (page, wallet) => {
    await page.locator('#add').click()
    await page.locator('#added').waitFor()
    expect(wallet.chainId === stage.facts.chainId, 'the chain to be added')
  })
  say('the network page adds the chain to a wallet')
}

async function payWithTrouble(stage) {
  await withWallet(stage, {}, stage.made.openLink, async (page) => {
    await page.locator('#pay').click()
    await told(page, /enough|coin|funds/i, 'of the missing funds')
  })
  const declines = ['wallet_addEthereumChain', 'wallet_switchEthereumChain']
  await withWallet(stage, { chainId: MAINNET, declines }, stage.made.openLink, async (page, wallet) => {
    await page.locator('#pay').click()
    await told(page, /\w/, 'of the refused chain')
    expect(!wallet.asked.includes('eth_sendTransaction'), 'nothing to be sent on another chain')
  })
  say('missing funds and another chain are told before anything is sent')
}

/** Opens a page with a wallet of a fresh key; none without `how`. */
async function withWallet({ browser, rpc, base, facts }, how, path, use) {
  const wallet = how && new TestWallet(rpc, { chainId: how.chainId ?? facts.chainId })
  for (const method of how?.declines ?? []) wallet.declines.add(method)
  const visitor = await Visitor.come(browser, base, { wallet })
  const { page } = await visitor.open(path)
  await use(page, wallet)
  for (const problem of visitor.takeProblems()) fail(`wallets: ${problem}`)
  await visitor.leave()
}

/** What the page says went wrong. */
async function told(page, pattern, what) {
  await page.waitForFunction(() => document.querySelector('#alert')?.textContent)
  const words = await page.locator('#alert').innerText()
  expect(pattern.test(words), `a word ${what}, got ${words}`)
  return words
}
