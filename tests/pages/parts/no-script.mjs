// Reading works without scripts.
import { Visitor } from '../lib/browser.mjs'
import { pages } from '../lib/pages.mjs'
import { fail } from '../lib/report.mjs'

export async function readWithoutScripts(stage) {
  const visitor = await Visitor.come(stage.browser, stage.base, { javaScriptEnabled: false })
  const page = await visitor.context.newPage()
  for (const { name, path, shows, isTool, isSignedIn } of pages(stage)) {
    if (isTool || isSignedIn) continue
    await page.goto(path)
    const text = await page.locator('body').innerText()
    for (const fact of shows) if (!text.includes(fact)) fail(`${name} (${path}) without scripts does not show ${fact}`)
  }
  for (const problem of new Set(visitor.takeProblems())) fail(`without scripts: ${problem}`)
  await visitor.leave()
}
