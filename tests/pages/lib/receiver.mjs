// A merchant's webhook receiver: keeps what it gets and checks the signature over the raw body.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

import { expect, until } from './report.mjs'

export async function startReceiver() {
  const received = []
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({ headers: request.headers, body: Buffer.concat(chunks) })
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    close: () => server.close(),
    /** The next delivery, which must be of this type and signed with the secret. */
    async next(type, secret) {
      const { headers, body } = await until(`a ${type}`, () => received.shift(), { patience: 30_000 })
      const expected = createHmac('sha256', secret).update(body).digest()
      const given = Buffer.from(headers['x-platform-signature'].replace(/^sha256=/, ''), 'hex')
      expect(given.length === expected.length && timingSafeEqual(given, expected), `a signed ${type}`)
      expect(headers['x-platform-event'] === type, `a ${type}, got ${headers['x-platform-event']}`)
      return JSON.parse(body)
    },
  }
}
