// Every page in both languages, both themes, on a phone and on a desk: what it must not do, and how it looks.
import axeCore from 'axe-core'

import { Visitor, overflow } from '../lib/browser.mjs'
import { pages } from '../lib/pages.mjs'
import { expect, fail, note } from '../lib/report.mjs'

const MOST_HTML = 60_000
const MOST_ASSETS = 40_000
const PHONE = 390
const DESK = 1280
const AT_ONCE = 2

export async function lookAtEveryPage(stage) {
  const sizes = { html: new Map(), assets: new Map() }
  for (const locale of ['en-US', 'id-ID']) {
    const guest = await Visitor.come(stage.browser, stage.base, { locale })
    const merchant = await Visitor.come(stage.browser, stage.base, { locale, storageState: stage.made.session })
    // Tools speak English only.
    const waiting = pages(stage).filter(({ isTool }) => locale === 'en-US' || !isTool)
    const worker = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const visitor = next.isSignedIn ? merchant : guest
        await look(stage, visitor, next, locale, sizes).catch((error) => fail(`${next.name}, ${locale}: ${error.stack}`))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    for (const { visitor, who } of [{ visitor: guest, who: 'a guest' }, { visitor: merchant, who: 'a merchant' }]) {
      for (const problem of new Set(visitor.takeProblems())) fail(`${locale}, ${who}: ${problem}`)
      await visitor.leave()
    }
  }
  const assets = [...sizes.assets.values()].reduce((sum, size) => sum + size, 0)
  expect(assets <= MOST_ASSETS, `at most ${MOST_ASSETS} bytes of styles and scripts, got ${assets}`)
  const [largest, html] = [...sizes.html].reduce((most, page) => (page[1] > most[1] ? page : most))
  note(`largest page: ${largest}, ${html} bytes; styles and scripts of all: ${assets} bytes`)
}

async function look(stage, visitor, { name, path, status = 200, isTool }, locale, sizes) {
  const page = await visitor.context.newPage()
  page.on('response', (response) => weigh(response, sizes.assets))
  const response = await page.goto(path)
  const where = `${name} (${path}), ${locale}`
  if (response.status() !== status) fail(`${where}: ${response.status()} instead of ${status}`)
  const html = (await response.body()).length
  sizes.html.set(name, Math.max(html, sizes.html.get(name) ?? 0))
  if (html > MOST_HTML) fail(`${where}: ${html} bytes of HTML`)
  const lang = await page.getAttribute('html', 'lang')
  if (lang !== locale.slice(0, 2) && !isTool) fail(`${where}: its language is ${lang}`)
  await page.evaluate(axeCore.source)
  for (const width of [DESK, PHONE]) {
    await page.setViewportSize({ width, height: width === PHONE ? 844 : 900 })
    const excess = await overflow(page)
    if (excess > 0) fail(`${where}: ${excess} px wider than ${width} px`)
    for (const colorScheme of ['light', 'dark']) {
      // Another language changes neither colours nor structure: one look at it will do.
      const isEnough = locale !== 'en-US'
      if (isEnough && (width !== PHONE || colorScheme !== 'light')) continue
      await page.emulateMedia({ colorScheme })
      for (const finding of await inspect(page, colorScheme)) fail(`${where}, ${width} px, ${colorScheme}: ${finding}`)
      if (locale === 'en-US') {
        await picture(page, width, `${stage.screenshots}/${name}-${width}-${colorScheme}.png`)
      }
    }
  }
  await page.close()
}

/** The whole page. The window is made as tall as it first: Chromium may draw the first screen again and again beyond its own. */
async function picture(page, width, path) {
  const shown = page.viewportSize()
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  await page.setViewportSize({ width, height: Math.max(height, shown.height) })
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  await page.screenshot({ path })
  await page.setViewportSize(shown)
}

/** Serious and critical findings of axe-core. In the dark nothing but the colours is another, so only those are judged again. */
const inspect = (page, colorScheme) =>
  page.evaluate(async (onlyColours) => {
    const runOnly = onlyColours ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {}
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'], preload: false, ...runOnly })
    const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    return grave.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, failureSummary }) =>
      `${html.slice(0, 160)} (${failureSummary?.split('\n')[1]?.trim()})`).join(' | ')}`)
  }, colorScheme === 'dark')

async function weigh(response, assets) {
  const { pathname } = new URL(response.url())
  if (!/^\/assets\/.*\.(css|js)$/.test(pathname) || assets.has(pathname)) return
  assets.set(pathname, 0)
  const body = await response.body().catch(() => Buffer.alloc(0))
  assets.set(pathname, body.length)
}
