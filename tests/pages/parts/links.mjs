// Every link within the site leads somewhere.
import { Visitor } from '../lib/browser.mjs'
import { pages } from '../lib/pages.mjs'
import { expect, fail, note } from '../lib/report.mjs'

export async function followLinks(stage) {
  const merchant = await Visitor.come(stage.browser, stage.base, { storageState: stage.made.session })
  const ask = (path) => merchant.context.request.get(path, { maxRedirects: 0 })
  const links = new Map()
  for (const { name, path, isTool, status } of pages(stage)) {
    // A page that is not there offers to try again.
    if (isTool || status) continue
    const html = await (await ask(path)).text()
    for (const link of linksOf(html, stage.base)) if (!links.has(link)) links.set(link, name)
  }
  expect(links.size > 20, `more links than ${links.size}`)
  for (const [link, from] of links) {
    const status = (await ask(link)).status()
    if (status >= 400) fail(`${from}: its link ${link} answers ${status}`)
  }
  note(`${links.size} links`)
  await merchant.leave()
}

function linksOf(html, base) {
  const places = [...html.matchAll(/<(?:a|link|script|img)\b[^>]*?\s(?:href|src)="([^"]*)"/g)]
  const urls = places.map(([, place]) => new URL(place.replaceAll('&amp;', '&'), base))
  return urls.filter(({ origin }) => origin === new URL(base).origin).map(({ pathname, search }) => pathname + search)
}
