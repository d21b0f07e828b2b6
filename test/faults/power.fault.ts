import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { engine } from '../engine.ts'
import { createDatabase, startPostgres } from '../postgres.ts'
import { scratchFolder } from '../process.ts'
import { report } from './report.ts'
import { type Service, startService } from './service.ts'

// A power cut loses data that was not synced. kill -9 does not: the data stays in the kernel's cache. Here, the
// database writes to a disk that keeps only synced data (power.c), and the next start reads that data.
const source = fileURLToPath(new URL('power.c', import.meta.url))
const SECRET_KEY = 'a key for tests, of 32 characters'
const rounds = 3
const writes = 150

/** The library that stands for the disk. This fault needs a C compiler: without one it fails, and says so. */
function compile(folder: string): string {
  const library = join(folder, 'power.so')
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'], { stdio: 'pipe' })
  } catch (error) {
    throw new Error(
      `The disk that loses writes cannot be made: this fault needs cc. ${(error as Error).message}`,
    )
  }
  return library
}

/** An engine on such a disk. */
type Disk = {
  start(key?: string): Promise<Service>
  /** Stops all processes in order. The disk then has all data, synced or not. */
  settle(service: Service): Promise<void>
  /** Cuts the power: data that was not synced is lost. */
  cut(service: Service): Promise<void>
}

const disk = (t: TestContext, sync: boolean): Promise<Disk> =>
  engine === 'postgres' ? postgresDisk(t, sync) : sqliteDisk(t, sync)

const replace = (folder: string, by: string) => {
  rmSync(folder, { recursive: true, force: true })
  cpSync(by, folder, { recursive: true, preserveTimestamps: true })
}

// The mutation of the control: the program as it is, but for one word.
const unsynced = `
  import { DatabaseSync } from 'node:sqlite'
  const { exec } = DatabaseSync.prototype
  DatabaseSync.prototype.exec = function (text) {
    return exec.call(this, text.replace('synchronous = FULL', 'synchronous = OFF'))
  }`

async function sqliteDisk(t: TestContext, sync: boolean): Promise<Disk> {
  const folder = scratchFolder(t)
  const [data_dir, shadow] = [join(folder, 'data'), join(folder, 'shadow')]
  for (const one of [data_dir, shadow]) mkdirSync(one)
  const disk = { LD_PRELOAD: compile(folder), POWER_DISK: data_dir, POWER_SHADOW: shadow }
  const off = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(unsynced)}` }
  return {
    async start(key = '') {
      const env = { ...disk, ...(sync ? {} : off), SECRET_KEY }
      const service = await startService(data_dir, { env, key })
      t.after(() => service.end('SIGKILL'))
      return service
    },
    async settle(service) {
      await service.end('SIGTERM')
      replace(shadow, data_dir)
    },
    async cut(service) {
      await service.end('SIGKILL')
      replace(data_dir, shadow)
    },
  }
}

async function postgresDisk(t: TestContext, sync: boolean): Promise<Disk> {
  const folder = scratchFolder(t)
  const server = await startPostgres({ fsync: sync })
  t.after(() => server.stop())
  const DATABASE_URL = await createDatabase(server.url, 'power')
  const shadow = join(server.folder, 'shadow')
  const library = compile(server.folder)
  chmodSync(library, 0o755)
  const disk = { LD_PRELOAD: library, POWER_DISK: server.data, POWER_SHADOW: shadow }
  const settle = async () => {
    await server.halt('fast')
    rmSync(shadow, { recursive: true, force: true })
    execFileSync('cp', ['-a', server.data, shadow])
    await server.start(disk)
  }
  await settle()
  return {
    async start(key = '') {
      const service = await startService(join(folder, 'data'), { env: { DATABASE_URL, SECRET_KEY }, key })
      t.after(() => service.end('SIGKILL'))
      return service
    },
    async settle(service) {
      await service.end('SIGTERM')
      await settle()
    },
    async cut(service) {
      await Promise.all([service.end('SIGKILL'), server.halt('immediate')])
      rmSync(server.data, { recursive: true })
      execFileSync('cp', ['-a', shadow, server.data])
      rmSync(join(server.data, 'postmaster.pid'), { force: true })
      await server.start(disk)
    },
  }
}

/** Writes with many clients until a number of writes is acknowledged. Resolves with their ids after the power cut. */
async function writeUntilCut(disk: Disk, service: Service): Promise<number[]> {
  const acknowledged: number[] = []
  let gone = false
  async function writer(number: number) {
    for (let n = 0; !gone; n++) {
      const made = await service.call('POST', '/api/v1/companies', { name: `Writer ${number}, ${n}` })
      assert.equal(made.status, 201, made.text)
      acknowledged.push(made.body.data.id)
    }
  }
  const writing = Array.from({ length: 8 }, (_, number) =>
    writer(number).catch((error) => {
      gone = true
      if (error.code === 'ERR_ASSERTION') throw error
    }),
  )
  while (acknowledged.length < writes && !gone) await pause(1)
  await disk.cut(service)
  await Promise.all(writing)
  return acknowledged
}

/** The acknowledged companies that are missing, or whose event is missing. */
async function lost({ call }: Service, acknowledged: number[]): Promise<number[]> {
  const told = new Set<number>()
  for (let cursor = 'start'; ; ) {
    const page = await call('GET', `/api/v1/events?event=company.created&per_page=100&cursor=${cursor}`)
    assert.equal(page.status, 200, page.text)
    for (const { data } of page.body.data) told.add(data.id)
    cursor = page.body.meta.next_cursor ?? ''
    if (!cursor || !page.body.data.length) break
  }
  const stored = await Promise.all(
    acknowledged.map(async (id) => (await call('GET', `/api/v1/companies/${id}`)).status === 200),
  )
  return acknowledged.filter((id, at) => !stored[at] || !told.has(id))
}

test('a power cut loses no acknowledged write and no event of one', async (t) => {
  const power = await disk(t, true)
  let service = await power.start()
  const { key } = service
  const acknowledged: number[] = []
  for (let round = 0; round < rounds; round++) {
    acknowledged.push(...(await writeUntilCut(power, service)))
    service = await power.start(key)
    assert.deepEqual(await lost(service, acknowledged), [], `after ${round + 1} cuts`)
  }
  const figures = `${rounds} power cuts, ${acknowledged.length} acknowledged writes, 0 lost`
  t.diagnostic(figures)
  report({ fault: 9, figures, events: acknowledged.length, lost: 0 })
})

test('without syncs, the same power cut loses writes, so the disk of this test works', async (t) => {
  const power = await disk(t, false)
  let service = await power.start()
  const { key } = service
  await power.settle(service)
  service = await power.start(key)
  const acknowledged = await writeUntilCut(power, service)
  service = await power.start(key)
  const gone = await lost(service, acknowledged)
  t.diagnostic(`${gone.length} of ${acknowledged.length} acknowledged writes are gone`)
  assert.ok(gone.length > acknowledged.length / 2)
})
