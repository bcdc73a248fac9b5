// Test coin from the faucet's page, with scripts and without.
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

import { Visitor } from '../lib/browser.mjs'
import { runChainnet } from '../lib/process.mjs'
import { expect, fail } from '../lib/report.mjs'

export async function claimFromFaucet({ browser, base, binary, screenshots }) {
  for (const javaScriptEnabled of [true, false]) {
    const wallet = privateKeyToAccount(generatePrivateKey()).address
    const visitor = await Visitor.come(browser, base, { javaScriptEnabled })
    const { page } = await visitor.open('/faucet')
    const trap = page.locator('#claim-form input[name="website"]')
    expect((await trap.getAttribute('tabindex')) === '-1', 'the trap to be out of the way')
    await claim(page, wallet)
    const refusal = await page.locator('#refusal').innerText()
    expect(refusal.includes('allowlist'), `a stranger to be told of the allowlist, got ${refusal}`)
    expect((await page.locator('#address').inputValue()) === wallet, 'what was typed to be kept')
    if (javaScriptEnabled) await page.screenshot({ path: `${screenshots}/faucet-refused-1280-light.png`, fullPage: true })
    await runChainnet(binary, 'allowlist', 'add', '--team', 'page-tests', wallet)
    await claim(page, wallet)
    await page.locator('#claim').waitFor()
    expect((await page.locator('#claim').innerText()).includes('500'), '500 coin')
    await page.goto('/faucet')
    await claim(page, wallet)
    expect(/24|h|next/i.test(await page.locator('#refusal').innerText()), 'to be told when the next claim is')
    for (const problem of visitor.takeProblems()) fail(`faucet: ${problem}`)
    await visitor.leave()
  }
}

async function claim(page, wallet) {
  await page.locator('#address').fill(wallet)
  const key = page.locator('#key')
  if (await key.count()) await key.fill(process.env.API_KEY)
  await page.locator('#claim-form button').click()
}
