// The search field leads to what was meant.
import { Visitor } from '../lib/browser.mjs'
import { expect, fail } from '../lib/report.mjs'

export async function search({ browser, base, facts }) {
  const visitor = await Visitor.come(browser, base)
  const { page } = await visitor.open('/')
  const cases = [
    [facts.blockHash, /^\/block\//],
    [facts.transfer, `/tx/${facts.transfer}`],
    [` ${facts.contract.toLowerCase()} `, /^\/address\/0x/i],
  ]
  for (const [text, place] of cases) {
    await page.getByRole('searchbox').fill(text)
    await page.getByRole('searchbox').press('Enter')
    await page.waitForURL((url) => (place instanceof RegExp ? place.test(url.pathname) : url.pathname === place))
  }
  // A small number may also be a part of a name.
  await page.getByRole('searchbox').fill(String(facts.block))
  await page.getByRole('searchbox').press('Enter')
  await page.waitForURL((url) => ['/search', `/block/${facts.block}`].includes(url.pathname))
  if (new URL(page.url()).pathname === '/search') await page.locator(`main a[href="/block/${facts.block}"]`).first().click()
  await page.waitForURL(`**/block/${facts.block}`)
  await page.getByRole('searchbox').fill('nothing is called this <b>')
  await page.getByRole('searchbox').press('Enter')
  await page.waitForURL((url) => url.pathname === '/search')
  const text = await page.locator('main').innerText()
  expect(/nothing|no /i.test(text), `a word about what was not found: ${text}`)
  for (const problem of visitor.takeProblems()) fail(`search: ${problem}`)
  await visitor.leave()
}
