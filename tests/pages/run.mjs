// The pages in a browser, by clicks. `run` beside it says how to start it; RPC_URL and EXPLORER_URL say where the product is.
import { mkdirSync } from 'node:fs'

import { launch } from './lib/browser.mjs'
import { finish, part } from './lib/report.mjs'
import { seed } from './lib/seed.mjs'
import { checkDeadNode } from './parts/dead-node.mjs'
import { applyAsValidator } from './parts/apply.mjs'
import { claimFromFaucet } from './parts/faucet.mjs'
import { tellFailures } from './parts/failures.mjs'
import { followLinks } from './parts/links.mjs'
import { lookAtEveryPage } from './parts/look.mjs'
import { sellAndBePaid } from './parts/merchant.mjs'
import { readWithoutScripts } from './parts/no-script.mjs'
import { usePreferences } from './parts/preferences.mjs'
import { search } from './parts/search.mjs'
import { measureHeads, measurePaint } from './parts/speed.mjs'
import { connectWallets } from './parts/wallets.mjs'

const { RPC_URL: rpc, EXPLORER_URL: base, SCREENSHOTS: screenshots, CHAINNET: binary } = process.env
mkdirSync(screenshots, { recursive: true })

const browser = await launch()
const facts = await seed(rpc)
/** What parts share: where things are, and what earlier parts have made. */
const stage = { browser, rpc, base, screenshots, binary, facts, made: {} }

/** In this order: later ones look at what earlier ones have made. */
const parts = {
  merchant: sellAndBePaid,
  faucet: claimFromFaucet,
  apply: applyAsValidator,
  wallets: connectWallets,
  look: lookAtEveryPage,
  'no-script': readWithoutScripts,
  links: followLinks,
  search,
  failures: tellFailures,
  preferences: usePreferences,
  paint: measurePaint,
  heads: measureHeads,
  'dead-node': checkDeadNode,
}

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts)
for (const name of wanted) await part(name, () => parts[name](stage))
await browser.close()
finish()
