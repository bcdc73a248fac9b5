// How fast it feels, printed and not judged: a shared machine is no stopwatch.
import { createPublicClient, webSocket } from 'viem'

import { Visitor } from '../lib/browser.mjs'
import { pages } from '../lib/pages.mjs'
import { expect, note, until } from '../lib/report.mjs'

/** Pages whose first paint is timed. */
const TIMED = ['home', 'blocks', 'block', 'tx-transfer', 'address', 'validators', 'network', 'developers']
/** Blocks that are waited for. */
const HEADS = 8

/** First contentful paint of some pages, without a cache. */
export async function measurePaint(stage) {
  const times = []
  for (const { name, path } of pages(stage).filter(({ name }) => TIMED.includes(name))) {
    const visitor = await Visitor.come(stage.browser, stage.base)
    const { page } = await visitor.open(path)
    const paint = await until(`the first paint of ${name}`, () =>
      page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime))
    times.push([paint, name])
    await visitor.leave()
  }
  times.sort(([a], [b]) => a - b)
  const [slowest, name] = times.at(-1)
  note(`first contentful paint: median ${Math.round(times[times.length >> 1][0])} ms, slowest ${Math.round(slowest)} ms (${name})`)
}

/** From the node's word of a block until the home page shows it. */
export async function measureHeads({ browser, base, rpc }) {
  const node = createPublicClient({ transport: webSocket(rpc.replace(/^http/, 'ws')) })
  const told = new Map()
  const stop = node.watchBlockNumber({ onBlockNumber: (number) => told.set(Number(number), Date.now()) })
  const visitor = await Visitor.come(browser, base)
  const { page } = await visitor.open('/')
  await page.evaluate(() => {
    window.shown = []
    const newest = () => Number(document.querySelector('#blocks a').textContent.replace(/\D/g, ''))
    let last = newest()
    new MutationObserver(() => {
      if (newest() !== last) window.shown.push([(last = newest()), Date.now()])
    }).observe(document.getElementById('blocks'), { childList: true, subtree: true })
  })
  const shown = await until('new blocks on the home page', async () => {
    const seen = await page.evaluate(() => window.shown)
    return seen.length >= HEADS && seen
  }, { patience: 60_000 })
  stop()
  const delays = shown.filter(([number]) => told.has(number)).map(([number, at]) => at - told.get(number)).sort((a, b) => a - b)
  expect(delays.length > 0, 'blocks that both have told')
  note(`block to home page: median ${delays[delays.length >> 1]} ms, p99 ${delays.at(-1)} ms, of ${delays.length} blocks`)
  expect(visitor.takeProblems().length === 0, 'no problems')
  await visitor.leave()
}
