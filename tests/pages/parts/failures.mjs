// A page that is not there says why: malformed, unknown, or not yet mined.
import { Visitor, overflow } from '../lib/browser.mjs'
import { expect } from '../lib/report.mjs'

export async function tellFailures({ browser, base, facts }) {
  const visitor = await Visitor.come(browser, base, { javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
  const page = await visitor.context.newPage()
  const cases = [
    ['/nowhere', 404, 'There is no such page'],
    ['/tx/0x1234', 400, 'not a transaction hash'],
    [`/tx/0x${'ab'.repeat(32)}`, 404, 'not known'],
    ['/block/banana', 400, 'not a block'],
    ['/block/99999999', 404, 'not mined yet'],
    [`/block/0x${'cd'.repeat(32)}`, 404, 'No block has this hash'],
    ['/address/0x12', 400, 'not an address'],
    [`/address/0x${'0'.repeat(60)}`, 400, 'not an address'],
    [`/validators/${facts.seeder}`, 404, 'No validator has this address'],
    ['/validators/applications/nobody', 404, 'no such application'],
    ['/pay/nothing', 404, 'not a payment link'],
  ]
  const wrong = []
  for (const [path, status, words] of cases) {
    const response = await page.goto(path)
    const text = await page.locator('main').innerText()
    if (response.status() !== status || !text.includes(words)) wrong.push(`${path}: ${response.status()} ${text.slice(0, 80)}`)
    const excess = await overflow(page)
    if (excess > 0) wrong.push(`${path}: ${excess} px too wide`)
  }
  expect(wrong.length === 0, `every failure to be explained: ${wrong.join(' | ')}`)
  await visitor.leave()
}
