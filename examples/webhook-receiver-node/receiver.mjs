// Receives webhooks: checks the signature over the raw body, takes every event once, answers 204.
//
//   WEBHOOK_SECRET=whsec_... PORT=4100 node receiver.mjs
//
// With WEBHOOK_STANDARD=1 it checks the Standard Webhooks signature instead, which also proves when it was sent.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.WEBHOOK_SECRET ?? '';
if (!secret.startsWith('whsec_')) {
  console.error('WEBHOOK_SECRET must be the secret that saving the webhook showed');
  process.exit(2);
}
const standard = process.env.WEBHOOK_STANDARD === '1';
const MOST_BYTES = 1024 * 1024;
const TOLERANCE_SECONDS = 300;

// Ids of events that were taken. A real shop keeps them in its database, in the transaction that acts on the event.
const seen = new Set();

const hmac = (key, ...parts) => {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
};

// The comparison takes equally long wherever the two differ.
const same = (one, other) => one.length === other.length && timingSafeEqual(one, other);

/** X-Platform-Signature: the key is the whole text of the secret. During a rotation the next secret signs, too. */
function hasPlatformSignature(headers, body) {
  const expected = hmac(secret, body);
  return ['x-platform-signature', 'x-platform-signature-next'].some((name) => {
    const text = String(headers[name] ?? '');
    return text.startsWith('sha256=') && same(Buffer.from(text.slice(7), 'hex'), expected);
  });
}

/** webhook-signature: the key is what the secret's base64 stands for, and id and time are signed with the body. */
function hasStandardSignature(headers, body) {
  const [id, time] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])];
  const age = Math.abs(Date.now() / 1000 - Number(time));
  if (!(age <= TOLERANCE_SECONDS)) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = hmac(key, `${id}.${time}.`, body);
  const signatures = String(headers['webhook-signature'] ?? '').split(' ');
  return signatures.some((one) => one.startsWith('v1,') && same(Buffer.from(one.slice(3), 'base64'), expected));
}

function receive(request, response, body) {
  const isGenuine = standard ? hasStandardSignature : hasPlatformSignature;
  if (!isGenuine(request.headers, body)) {
    console.log('bad signature');
    response.writeHead(401).end();
    return;
  }
  // Read only what is proven to be genuine; the id is in the body, so it is signed.
  const event = JSON.parse(body.toString('utf8'));
  if (seen.has(event.id)) {
    console.log(`again ${event.type} ${event.id}`);
  } else {
    seen.add(event.id);
    console.log(`ok ${event.type} ${event.id}`);
  }
  response.writeHead(204).end();
}

const server = createServer((request, response) => {
  const chunks = [];
  let bytes = 0;
  request.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) request.destroy();
    else chunks.push(chunk);
  });
  // The bytes as they came: JSON that is parsed and written again is other bytes.
  request.on('end', () => receive(request, response, Buffer.concat(chunks)));
});

server.listen(Number(process.env.PORT ?? 4100), process.env.HOST ?? '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`);
});
