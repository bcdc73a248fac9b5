// Visitors: browser contexts that note whatever a page must not do.
import { chromium } from 'playwright-core'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

/** Debian's Chromium. */
export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS, timeout: 60_000 })

/** A visitor with a context of its own. `problems` holds what went wrong on any of its pages. */
export class Visitor {
  problems = []

  static async come(browser, base, { wallet, ...options } = {}) {
    const context = await browser.newContext({
      baseURL: base,
      viewport: { width: 1280, height: 900 },
      locale: 'en-US',
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
      ...options,
    })
    context.setDefaultTimeout(15_000)
    const visitor = new Visitor(context, new URL(base).origin)
    await visitor.#watch()
    if (wallet) await wallet.plugInto(context)
    return visitor
  }

  constructor(context, origin) {
    this.context = context
    this.origin = origin
  }

  async open(path) {
    const page = await this.context.newPage()
    const response = await page.goto(path)
    return { page, response }
  }

  /** What went wrong since the last time this was asked. */
  takeProblems() {
    return this.problems.splice(0)
  }

  leave() {
    return this.context.close()
  }

  async #watch() {
    const { context, problems, origin } = this
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) =>
        console.error(`CSP ${event.violatedDirective}: ${event.blockedURI} ${event.sample}`))
    })
    context.on('request', (request) => {
      const url = new URL(request.url())
      if (url.protocol !== 'data:' && url.protocol !== 'blob:' && url.origin !== origin) {
        problems.push(`asks another origin: ${request.url()}`)
      }
    })
    context.on('response', (response) => {
      if (response.status() >= 500) problems.push(`${response.status()} from ${response.url()}`)
    })
    context.on('console', (message) => {
      if (message.type() === 'error' && !isExpected(message)) {
        problems.push(`console: ${message.text()} (${message.location().url})`)
      }
    })
    context.on('weberror', (error) => problems.push(`script: ${error.error()}`))
  }
}

/** Browsers log every answer of 400 and more. Those of documents are looked at by status, and 4xx is the portal's way to ask for payment. */
function isExpected(message) {
  const refused = /Failed to load resource: the server responded with a status of 4\d\d/.test(message.text())
  const { pathname } = new URL(message.location().url || 'about:blank')
  return refused && !pathname.startsWith('/assets/')
}

/** Horizontal overflow of the document, in pixels. */
export const overflow = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
