// runs: once
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { calmTime } from '../../../test/calm-time.ts'
import { startNameServer } from '../../../test/name-server.ts'
import { startReceiver } from '../../../test/receiver.ts'
import { useFor } from '../../../test/use.ts'
import { hashPassword } from '../../access/people/passwords.ts'
import { createSender } from './deliver.ts'
import { createResolve, resolveInTime } from './resolve.ts'

const v6 = '2001:0db8:0000:0000:0000:0000:0000:0001'

async function nameServer(t: TestContext, known: Parameters<typeof startNameServer>[0]) {
  const made = await startNameServer(known)
  t.after(() => made.close())
  return made
}

/** A file with this text, which goes at the end of the test. */
function file(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-dns-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'file'), text)
  return join(folder, 'file')
}

/** How many look-ups of the C library hold a thread, or wait for one. */
const threadLookups = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'GetAddrInfoReqWrap').length

test('a name has the addresses of both families', async (t) => {
  const { server } = await nameServer(t, () => ['192.0.2.7', v6])
  const resolve = createResolve({ servers: [server], hosts: file(t, '') })
  assert.deepEqual(await resolve('Hooks.Example'), ['192.0.2.7', '2001:db8::1'])
})

test('the hosts file comes before the name servers', async (t) => {
  const { server, asked } = await nameServer(t, () => ['192.0.2.7'])
  const hosts = file(t, '# 1.1.1.1 inner\n10.0.0.5\tInner inner.example # 2\nfd00::5 inner\n')
  const resolve = createResolve({ servers: [server], hosts })
  assert.deepEqual(await resolve('inner'), ['10.0.0.5', 'fd00::5'])
  assert.deepEqual(await resolve('localhost'), ['127.0.0.1', '::1'])
  assert.deepEqual(asked, [])
})

test('a change of the hosts file counts at the next look-up; a file above 1 MiB is passed over', async (t) => {
  const { server } = await nameServer(t, () => ['192.0.2.7'])
  const hosts = file(t, '10.0.0.5 inner\n')
  const resolve = createResolve({ servers: [server], hosts })
  assert.deepEqual([await resolve('inner'), await resolve('inner')], [['10.0.0.5'], ['10.0.0.5']])
  writeFileSync(hosts, '10.0.0.6 inner\n')
  assert.deepEqual(await resolve('inner'), ['10.0.0.6'])
  writeFileSync(hosts, `10.0.0.7 inner\n#${'x'.repeat(1024 * 1024)}`)
  assert.deepEqual(await resolve('inner'), ['192.0.2.7'])
  rmSync(hosts)
  assert.deepEqual(await resolve('inner'), ['192.0.2.7'])
})

test('a short name is asked for inside the search domains first, a long one as it is', async (t) => {
  const { server, asked } = await nameServer(t, (name) => (name.endsWith('.b.test') ? ['192.0.2.9'] : []))
  const configuration = file(t, 'nameserver 192.0.2.1\nsearch a.test b.test.\noptions timeout:9 ndots:2\n')
  const resolve = createResolve({ servers: [server], hosts: file(t, ''), configuration })
  const names = () => [...new Set(asked.splice(0))]
  assert.deepEqual(await resolve('hooks.crm'), ['192.0.2.9'])
  assert.deepEqual(names(), ['hooks.crm.a.test', 'hooks.crm.b.test'])
  assert.deepEqual(await resolve('x.y.z'), ['192.0.2.9'])
  assert.deepEqual(names(), ['x.y.z', 'x.y.z.a.test', 'x.y.z.b.test'])
  await assert.rejects(resolve('hooks.crm.'), /No name server knows hooks\.crm/)
  assert.deepEqual(names(), ['hooks.crm'])
})

test('a search domain whose servers fail keeps no name outside it from being found', async (t) => {
  const { server } = await nameServer(t, (name) => {
    if (name.endsWith('.cluster.test')) return 'failure'
    return name === 'hooks.example' ? ['192.0.2.9'] : []
  })
  const configuration = file(t, 'search a.cluster.test cluster.test\noptions ndots:5\n')
  const resolve = createResolve({ servers: [server], hosts: file(t, ''), configuration })
  assert.deepEqual(await resolve('hooks.example'), ['192.0.2.9'])
  await assert.rejects(resolve('nowhere.example'), { code: 'ESERVFAIL', hostname: /cluster/ })
})

test('lookups of unknown names use no thread that passwords and files need', async (t) => {
  const { server, asked } = await nameServer(t, () => [])
  const resolve = createResolve({ servers: [server], hosts: file(t, ''), configuration: file(t, '') })
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, threadLookups())
  })
  t.after(() => clearInterval(watch))
  const lookups = Array.from({ length: 100 }, (_, n) => resolve(`nowhere-${n}.example`))
  for (const one of await Promise.allSettled(lookups)) assert.equal(one.status, 'rejected')
  assert.equal(most, 0)
  assert.equal(new Set(asked).size, 100)
})

test('lookups of a name server that never answers fail after 3 s; other lookups and files are not delayed', async (t) => {
  const silent = await nameServer(t, () => 'silence')
  const receiver = await useFor(t, startReceiver())
  const policy = { allowed_networks: [], allow_private: true }
  const resolve = createResolve({ servers: [silent.server], hosts: file(t, ''), configuration: file(t, '') })
  const sender = createSender({ policy, timeout_ms: 10_000, version: 'test', resolve })
  t.after(() => sender.close())
  const send = (url: string) => sender.send({ url, headers: {}, body: '{}' })

  const lost = Array.from({ length: 64 }, (_, n) => send(`http://hangs-${n}.example/`))
  let over = false
  const all = calmTime(() => Promise.all(lost)).finally(() => {
    over = true
  })
  assert.equal((await send(receiver.url)).ok, true)
  assert.equal((await send(receiver.url.replace('127.0.0.1', 'localhost'))).ok, true)
  await readFile(import.meta.filename)
  // It needs a thread, but not for long on a busy machine.
  await hashPassword('a password beside it', { cost: { memory: 8, passes: 1, parallelism: 1 } })
  assert.equal(threadLookups(), 0)
  assert.equal(over, false, 'all of it before the first look-up has failed')
  const { value: failures, calm_ms } = await all
  assert.ok(calm_ms < 5000, `${calm_ms} ms`)
  for (const { error, duration_ms } of failures) {
    assert.equal(error?.code, 'dns_error')
    assert.ok(duration_ms >= 2800, String(duration_ms))
  }
  assert.ok(silent.asked.length >= 64)
})

test('a look-up takes 3 s at most, whatever its source does', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const waiting = assert.rejects(
    resolveInTime(() => new Promise(() => {}), 'slow.example'),
    /within 3000 ms/,
  )
  t.mock.timers.tick(3000)
  await waiting
})
