// Language and colours: by the browser's wish, by a switch, and kept.
import { Visitor } from '../lib/browser.mjs'
import { expect } from '../lib/report.mjs'

export async function usePreferences({ browser, base }) {
  for (const javaScriptEnabled of [true, false]) {
    const visitor = await Visitor.come(browser, base, { javaScriptEnabled, locale: 'id-ID', colorScheme: 'light' })
    const { page } = await visitor.open('/blocks')
    const html = page.locator('html')
    expect((await html.getAttribute('lang')) === 'id', 'the language that the browser prefers')
    await page.getByRole('button', { name: 'English' }).click()
    await page.locator('html[lang="en"]').waitFor()
    expect(new URL(page.url()).pathname === '/blocks', 'to stay on the page')
    const light = await background(page, javaScriptEnabled)
    await page.getByRole('button', { name: 'Dark' }).click()
    await page.locator('html[data-theme="dark"]').waitFor()
    const dark = await background(page, javaScriptEnabled)
    expect(light !== dark || !javaScriptEnabled, 'other colours in the dark')
    await page.goto('/')
    expect((await html.getAttribute('data-theme')) === 'dark' && (await html.getAttribute('lang')) === 'en', 'choices to be kept')
    expect(visitor.takeProblems().length === 0, 'no problems')
    await visitor.leave()
  }
}

const background = (page, canAsk) => (canAsk ? page.evaluate(() => getComputedStyle(document.body).backgroundColor) : '')
