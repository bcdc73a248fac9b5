// Every page, with what it must show to somebody without scripts.
import { REGISTRY } from './seed.mjs'

/**
 * `made` is what earlier parts have left: an invoice, an application. Pages of theirs are left out without it.
 * `shows` are texts of the English page.
 */
export function pages({ facts, made }) {
  const { block, blockHash, transfer, deploy, failed, note, contract, seeder } = facts
  const list = [
    { name: 'home', path: '/', shows: ['Latest blocks', 'Latest transactions', 'Genesis Validator'] },
    { name: 'blocks', path: '/blocks', shows: [grouped(block)] },
    { name: 'block', path: `/block/${block}`, shows: [blockHash] },
    { name: 'transactions', path: '/transactions', shows: [start(note)] },
    { name: 'tx-transfer', path: `/tx/${transfer}`, shows: [transfer, '1.25'] },
    { name: 'tx-deploy', path: `/tx/${deploy}`, shows: [deploy, start(contract)] },
    { name: 'tx-failed', path: `/tx/${failed}`, shows: [failed, 'claimRewards'] },
    { name: 'tx-note', path: `/tx/${note}`, shows: ['deadbeef'] },
    { name: 'address', path: `/address/${seeder}`, shows: [seeder] },
    { name: 'contract', path: `/address/${contract}`, shows: [contract] },
    { name: 'registry', path: `/address/${REGISTRY}`, shows: ['PlatformValidatorRegistry'] },
    { name: 'search', path: '/search?q=V', shows: [] },
    { name: 'burns', path: '/burns', shows: ['30'] },
    { name: 'network', path: '/network', shows: ['8845', '0x228d', 'PNC'] },
    { name: 'validators', path: '/validators', shows: [] },
    { name: 'program', path: '/validators/program', shows: ['100', '20', '99'] },
    { name: 'apply', path: '/validators/apply', shows: [] },
    { name: 'expansion', path: '/validators/expansion', shows: ['Jakarta', 'Kalimantan'] },
    { name: 'faucet', path: '/faucet', shows: ['500'] },
    { name: 'developers', path: '/developers', shows: ['100', '270', '900'] },
    { name: 'api-docs', path: '/api/v1/docs', shows: ['/api/v1/chain'], isTool: true },
    { name: 'api-docs-part', path: '/api/v1/docs/blocks', shows: ['/api/v1/blocks/latest'], isTool: true },
    { name: 'graphiql', path: '/graphql', shows: [], isTool: true },
    { name: 'not-found', path: '/no/such/page', status: 404, shows: ['There is no such page'] },
    { name: 'tx-unknown', path: `/tx/0x${'12'.repeat(32)}`, status: 404, shows: ['not known'] },
  ]
  if (made.validator) list.push({ name: 'validator', path: `/validators/${made.validator}`, shows: [made.validator] })
  if (made.application) list.push({ name: 'application', path: made.application, shows: [] })
  if (made.payment) list.push({ name: 'tx-payment', path: `/tx/${made.payment}`, shows: [made.payment] })
  if (made.paidLink) list.push({ name: 'pay-paid', path: made.paidLink, shows: ['150'] })
  if (made.openLink) list.push({ name: 'pay-open', path: made.openLink, shows: ['75'] })
  if (made.session) {
    list.push(
      { name: 'developers-dashboard', path: '/developers', isSignedIn: true },
      { name: 'developers-keys', path: '/developers/keys', isSignedIn: true },
      { name: 'developers-webhook', path: '/developers/webhook', isSignedIn: true },
      { name: 'developers-invoices', path: '/developers/invoices', isSignedIn: true },
    )
    if (made.invoice) list.push({ name: 'developers-invoice', path: `/developers/invoices/${made.invoice}`, isSignedIn: true })
  }
  const only = process.env.PAGES?.split(',')
  return only ? list.filter(({ name }) => only.includes(name)) : list
}

/** The beginning of a hash as it is shown. */
const start = (hash) => hash.slice(0, 6)
/** A number as it is shown. */
const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, '\u202f')
