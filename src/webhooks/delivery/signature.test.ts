// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verify } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import { generateSecret, secretProblem, signatureHeaders } from './signature.ts'

const plain = 'a plain secret, no base64 at all!'
const delivery_id = 'dlv_01JD0000000000000000000000'
const body = JSON.stringify({
  event: 'contact.created',
  data: { first_name: 'Zoë', last_name: '王 \u{1F600}' },
})
const timestamp = Math.floor(Date.now() / 1000)

function standard(secret: string): Webhook {
  return secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(secret, { format: 'raw' })
}

for (const [kind, secret] of [
  ['a generated secret', generateSecret()],
  ['a secret of any other form', plain],
] as const) {
  test(`${kind} signs so that both foreign libraries verify, and a changed body does not`, async () => {
    const headers = signatureHeaders({ secrets: [secret], delivery_id, timestamp, body })
    assert.match(headers['X-Service-Signature']!, /^sha256=[0-9a-f]{64}$/)
    assert.equal(await verify(secret, body, headers['X-Service-Signature']!), true)
    assert.equal(await verify(secret, `${body} `, headers['X-Service-Signature']!), false)
    assert.deepEqual(standard(secret).verify(body, headers), JSON.parse(body))
    assert.throws(() => standard(secret).verify(`${body} `, headers))
    assert.throws(() => standard(generateSecret()).verify(body, headers))
    assert.equal(headers['webhook-id'], delivery_id)
    assert.equal(headers['webhook-timestamp'], String(timestamp))
    assert.equal('X-Service-Signature-Next' in headers, false)
  })
}

test('in an overlap receivers with the old and with the new secret both verify, by either convention', async () => {
  for (const [old, fresh] of [
    [generateSecret(), generateSecret()],
    [plain, generateSecret()],
    [generateSecret(), plain],
  ] as const) {
    const headers = signatureHeaders({ secrets: [old, fresh], delivery_id, timestamp, body })
    assert.equal(await verify(old, body, headers['X-Service-Signature']!), true)
    assert.equal(await verify(fresh, body, headers['X-Service-Signature']!), false)
    assert.equal(await verify(fresh, body, headers['X-Service-Signature-Next']!), true)
    assert.equal(headers['webhook-signature']!.split(' ').length, 2)
    for (const secret of [old, fresh])
      assert.deepEqual(standard(secret).verify(body, headers), JSON.parse(body))
  }
})

test('a published test vector of Standard Webhooks gets its published signature', () => {
  const headers = signatureHeaders({
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    delivery_id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: '{"test": 2432232314}',
  })
  assert.equal(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('generated secrets are whsec_ and 32 random bytes, differ, and are acceptable themselves', () => {
  const secrets = new Set(Array.from({ length: 50 }, generateSecret))
  assert.equal(secrets.size, 50)
  for (const secret of secrets) {
    assert.equal(Buffer.from(secret.slice('whsec_'.length), 'base64').length, 32)
    assert.equal(secretProblem(secret), null)
  }
})

test('a given secret has 16 to 255 printable characters, and base64 after whsec_', () => {
  for (const good of [
    'x'.repeat(16),
    'x'.repeat(255),
    plain,
    'whsec_C2FVsBQIhrsc',
    `whsec_${btoa('12345678')}`,
  ]) {
    assert.equal(secretProblem(good), null, good)
  }
  const bad = [
    '',
    'x'.repeat(15),
    'x'.repeat(256),
    `${'x'.repeat(16)}\n`,
    'geheimes Schlüsselwort',
    `${'x'.repeat(16)}\x7f`,
  ]
  const bad_standard = [
    'whsec_not base64 at all',
    'whsec_C2FVsBQIhrscC',
    'whsec_C2FVsBQI-_sc',
    'whsec_C2FVsBQIhrs==',
  ]
  for (const secret of [...bad, ...bad_standard])
    assert.match(secretProblem(secret) ?? '', /^secret /, secret)
})

test('a delivery is never signed with no secret or with more than two', () => {
  for (const secrets of [[], ['a', 'b', 'c']]) {
    assert.throws(() => signatureHeaders({ secrets, delivery_id, timestamp, body }))
  }
})
