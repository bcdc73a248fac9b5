// A node that dies: the pages say so, and show what was known last.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Visitor } from '../lib/browser.mjs'
import { startChainnet } from '../lib/process.mjs'
import { expect, fail, until } from '../lib/report.mjs'
import { seed } from '../lib/seed.mjs'

const ALARM = 'No node answers right now'

export async function checkDeadNode({ browser, binary, screenshots }) {
  const folder = mkdtempSync(join(tmpdir(), 'chainnet-pages-'))
  const running = []
  try {
    const node = await startChainnet(binary, ['node', '--data', join(folder, 'node'), '--rpc-port', '0', '--metrics-port', '0'], 'JSON-RPC')
    running.push(node)
    const rpc = node.addressOf('JSON-RPC')
    const ports = ['--api-port', '--gateway-port', '--faucet-port', '--explorer-port', '--metrics-port'].flatMap((port) => [port, '0'])
    const app = await startChainnet(binary, ['up', '--data', join(folder, 'app'), ...ports], 'Explorer', { PLATFORM_RPC_URL: rpc })
    running.unshift(app)
    const base = app.addressOf('Explorer')
    const facts = await seed(rpc)
    const visitor = await Visitor.come(browser, base)
    const { page } = await visitor.open('/')
    await page.locator(`#blocks a[href="/block/${facts.block}"]`).waitFor()
    expect(!(await page.content()).includes(ALARM), 'no alarm while the node lives')
    await node.stop()
    await until('the alarm', async () => {
      await page.goto('/')
      return (await page.getByRole('alert').allInnerTexts()).some((text) => text.includes(ALARM))
    }, { patience: 30_000, pause: 500 })
    visitor.takeProblems()
    const kept = ['/', '/blocks', '/transactions', `/block/${facts.block}`, '/validators', '/burns', `/address/${facts.seeder}`]
    for (const path of kept) {
      const response = await page.goto(path)
      const text = await page.locator('body').innerText()
      if (!text.includes(ALARM)) fail(`${path} with a dead node: no banner`)
      if (response.status() !== 200) fail(`${path} with a dead node: ${response.status()} ${text.slice(0, 200)}`)
    }
    await page.goto('/blocks')
    expect((await page.content()).includes(`/block/${facts.block}`), 'the last known blocks')
    await page.goto('/')
    await page.screenshot({ path: `${screenshots}/dead-node-1280-light.png`, fullPage: true })
    for (const problem of visitor.takeProblems()) if (!problem.startsWith('503')) fail(`dead node: ${problem}`)
    await visitor.leave()
  } finally {
    for (const process of running) await process.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
