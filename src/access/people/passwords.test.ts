// runs: once, apart
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import { cpuTime } from '../../../test/calm-time.ts'
import {
  checkPassword,
  default_cost,
  hashesRunning,
  hashPassword,
  libraryArgon2,
  max_concurrent_hashes,
  nativeArgon2,
  passwordProblems,
} from './passwords.ts'

const password = 'correct horse battery'

test('a hash is argon2id in PHC string format, with a salt of its own each time', async () => {
  const hashes = await Promise.all([hashPassword(password), hashPassword(password)])
  for (const hash of hashes)
    assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  assert.notEqual(hashes[0], hashes[1])
  for (const hash of hashes) assert.equal(await checkPassword(password, hash), true)
})

test('Node and the library agree', { timeout: 60_000 }, async () => {
  const salt = Buffer.from('0123456789abcdef')
  const found = Buffer.from(await libraryArgon2(Buffer.from(password), salt, default_cost, 32)).toString(
    'hex',
  )
  assert.ok(nativeArgon2, 'this Node has no argon2')
  assert.equal(
    Buffer.from(await nativeArgon2(Buffer.from(password), salt, default_cost, 32)).toString('hex'),
    found,
  )
})

test('a wrong password is refused, and so is anything for somebody unknown', async () => {
  const hash = await hashPassword(password)
  for (const wrong of ['', 'correct horse', `${password} `, password.toUpperCase()])
    assert.equal(await checkPassword(wrong, hash), false, wrong)
  assert.equal(await checkPassword(password, null), false)
})

test('a hash that was made with another cost, by any program, is checked with that one', async () => {
  const salt = Buffer.from('somesalt')
  const hash = await libraryArgon2(
    Buffer.from('password'),
    salt,
    { memory: 256, passes: 2, parallelism: 1 },
    24,
  )
  const text = `$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$${Buffer.from(hash).toString('base64')}`
  assert.equal(await checkPassword('password', text), true)
  assert.equal(await checkPassword('Password', text), false)
  await assert.rejects(checkPassword('password', 'password'), /unknown format/)
})

test('somebody unknown costs the same as a wrong password', async () => {
  const hash = await hashPassword(password)
  const timed = async (kept: string | null) => {
    const times: number[] = []
    for (let n = 0; n < 5; n++) times.push(await cpuTime(() => checkPassword('wrong password', kept)))
    return Math.min(...times)
  }
  const [known, unknown] = [await timed(hash), await timed(null)]
  assert.ok(unknown > known / 3 && known > unknown / 3, `${known} ms known, ${unknown} ms unknown`)
})

test('a password is the same in both compositions of its letters', async () => {
  const hash = await hashPassword('Gr\u00fc\u00dfe aus K\u00f6ln')
  assert.equal(await checkPassword('Gru\u0308\u00dfe aus Ko\u0308ln', hash), true)
})

test('a few hashes are made at once, and the rest wait', async () => {
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, hashesRunning())
  }, 1)
  await Promise.all(Array.from({ length: 12 }, () => checkPassword(password, null)))
  clearInterval(watch)
  assert.ok(most >= 1 && most <= max_concurrent_hashes, String(most))
  assert.equal(hashesRunning(), 0)
})

test('so many that they would wait for minutes are refused with 503', async () => {
  // All of them come at once, so the queue fills at any cost.
  const cheap = (await hashPassword(password)).replace('m=19456,t=2', 'm=8,t=1')
  const tries = Array.from({ length: 300 }, () =>
    checkPassword(password, cheap).then(String, (error) => error.code),
  )
  const ends = await Promise.all(tries)
  assert.equal(ends.filter((end) => end === 'unavailable').length, 300 - 200 - max_concurrent_hashes)
  assert.equal(ends.filter((end) => end === 'false').length, 200 + max_concurrent_hashes)
})

test('a password that is set has 10 characters at least and is not the e-mail; no other rules', () => {
  const codes = (text: unknown) =>
    passwordProblems('password', text, 'ada@example.com').map(({ code }) => code)
  assert.deepEqual(codes('123456789'), ['too_short'])
  // Characters, not code units.
  assert.deepEqual(codes('😀😀😀😀😀😀😀😀😀'), ['too_short'])
  assert.deepEqual(codes('Ada@Example.com'), ['too_easy'])
  assert.deepEqual(codes('          '), [])
  assert.deepEqual(codes('aaaaaaaaaa'), [])
  // The schema reports values that are not text.
  assert.deepEqual(codes(7), [])
})
