import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { engine } from '../engine.ts'
import { command, databaseUrl, startPostgres } from '../postgres.ts'
import { scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { type Call, register, total, until } from '../webhooks.ts'
import { report } from './report.ts'
import { startService } from './service.ts'
import { mountSmallDisk } from './small-disk.ts'

/** A service whose records are on a small disk: the data folder, or a tablespace of PostgreSQL. */
async function startOnSmallDisk(t: TestContext) {
  const disk = mountSmallDisk(t, { megabytes: 48, filled: 16 })
  const env: Record<string, string> = { LOG_LEVEL: 'fatal', WEBHOOK_RETRY_DELAYS: '0.5,1,1,2,2,4' }
  let data_dir = join(disk.folder, 'data')
  if (engine === 'sqlite') mkdirSync(data_dir)
  else {
    const server = await startPostgres()
    t.after(() => server.stop())
    const { uid, gid } = statSync(server.folder)
    disk.giveTo(uid, gid)
    await command(server.url, `CREATE TABLESPACE small LOCATION '${disk.folder}'`)
    await command(server.url, 'CREATE DATABASE small TEMPLATE template0 TABLESPACE small')
    env.DATABASE_URL = databaseUrl(server.url, 'small')
    env.SECRET_KEY = 'a secret key for tests of small disks'
    data_dir = scratchFolder(t)
  }
  const service = await startService(data_dir, { env })
  t.after(() => service.end('SIGKILL'))
  return { disk, service }
}

const name = (n: number) => `Company number ${n}.`

/** Creates records with much in them, several at a time, until ten of them were refused. */
async function fill(call: Call) {
  const made = new Map<string, number>()
  const refused: string[] = []
  let n = 0
  async function writer() {
    while (refused.length < 10) {
      const told = name(++n)
      // Random, so that no database makes it smaller.
      const custom_fields = Object.fromEntries(
        Array.from({ length: 10 }, (_, at) => [`field ${at}`, randomBytes(3000).toString('base64')]),
      )
      const reply = await call('POST', '/api/v1/companies', { name: told, custom_fields })
      assert.ok([201, 503].includes(reply.status), reply.text)
      if (reply.status === 201) made.set(told, reply.body.data.id)
      else {
        assert.ok(Number(reply.headers.get('retry-after')) >= 1)
        refused.push(told)
      }
    }
  }
  await Promise.all(Array.from({ length: 4 }, writer))
  return { made, refused }
}

test('a real full disk: writes are 503 and leave nothing, reads work, and writes work again when there is space', async (t) => {
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const { disk, service } = await startOnSmallDisk(t)
  const { call } = service
  await register(call, { url: receiver.url })
  const { made, refused } = await fill(call)
  assert.ok(made.size > 20, `${made.size} fitted`)

  // With a full disk, reads by id and lists work, and contain exactly the acknowledged records.
  const [[first, id]] = made as unknown as [[string, number]]
  assert.equal((await call('GET', `/api/v1/companies/${id}`)).body.data.name, first)
  assert.equal((await call('GET', '/api/v1/companies?per_page=1')).body.meta.total, made.size)
  for (const path of ['/companies?search=number', '/deliveries', '/events?per_page=10', '/webhooks'])
    assert.equal((await call('GET', `/api/v1${path}`)).status, 200, path)

  disk.free()
  const start = performance.now()
  const after = await until(
    () => call('POST', '/api/v1/companies', { name: 'There is room.' }),
    { status: 201 },
    10_000,
  )
  const healed_ms = performance.now() - start
  made.set('There is room.', after.body.data.id)
  await until(() => total(call, 'status=pending'), 0, 60_000)

  const arrived = new Set(receiver.received.map(({ body }) => JSON.parse(body).data.name as string))
  const told = await total(call, 'event=company.created')
  const lost = [...made.keys()].filter((one) => !arrived.has(one)).length
  const phantom = [...arrived].filter((one) => !made.has(one)).length
  const figures = `${made.size} writes fitted, ${refused.length} were 503; ${Math.round(healed_ms)} ms after there was room it wrote again`
  report({ fault: 7, figures, events: made.size, lost, phantom })
  t.diagnostic(figures)
  assert.deepEqual([lost, phantom, told], [0, 0, made.size])
  assert.equal((await call('GET', '/api/v1/companies?per_page=1')).body.meta.total, made.size)
  assert.equal(await service.end('SIGTERM'), 0)
})
