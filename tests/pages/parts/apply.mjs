// An application to become a validator, by a form that needs no script.
import { Visitor } from '../lib/browser.mjs'
import { expect, fail } from '../lib/report.mjs'

export async function applyAsValidator({ browser, base, facts, made }) {
  for (const javaScriptEnabled of [true, false]) {
    const visitor = await Visitor.come(browser, base, { javaScriptEnabled })
    const { page } = await visitor.open('/validators/apply')
    const name = `Warung Node ${javaScriptEnabled ? 1 : 2}`
    await page.locator('#moniker').fill(name)
    await page.locator('#operatorAddress').fill(`0x${(javaScriptEnabled ? 'a1' : 'b2').repeat(20)}`)
    await page.locator('#email').fill('node@example.org')
    await page.locator('#stakeAmount').fill('5')
    await page.locator('#commission').fill('7.5')
    await page.locator('#region').selectOption('ID-JB')
    await page.locator('form[action="/validators/apply"] button').click()
    await page.locator('#stakeAmount[aria-invalid="true"]').waitFor()
    expect((await page.locator('#moniker').inputValue()) === name, 'what was typed to be kept')
    await page.locator('#stakeAmount').fill('100000')
    await page.locator('form[action="/validators/apply"] button').click()
    await page.waitForURL('**/validators/applications/*')
    const text = await page.locator('main').innerText()
    expect(text.includes(name) && !text.includes('node@example.org'), `the application without its e-mail address, got ${text}`)
    made.application = new URL(page.url()).pathname
    for (const problem of visitor.takeProblems()) fail(`apply: ${problem}`)
    await visitor.leave()
  }
  const visitor = await Visitor.come(browser, base)
  const { page } = await visitor.open('/validators')
  const link = await page.locator('main a[href^="/validators/0x"]').first().getAttribute('href')
  made.validator = link.split('/').at(-1)
  expect(made.validator !== facts.seeder, 'a validator')
  await visitor.leave()
}
