// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calendarFile, hourAt, startCalendars } from './calendar-server.ts'
import { client } from './harness.ts'
import { ask, type Browser, join } from './people.ts'
import { firstKey, scratchFolder, serveProcess } from './process.ts'
import { useFor } from './use.ts'
import { until } from './webhooks.ts'

// The service collects the garbage of its start, for which V8 shows `gc` to every later thread.
test('calendars are read by a process whose threads have more globals than usual', async (t) => {
  const calendars = await useFor(t, startCalendars())
  calendars.serve('/one.ics', calendarFile(hourAt(Date.now() + 86_400_000)))
  const DATA_DIR = scratchFolder(t)
  const service = await serveProcess(t, {
    DATA_DIR,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    NODE_OPTIONS: '--expose-gc',
  })
  const byKey = client(service.url, firstKey(DATA_DIR))
  const admin = ((method, path, body) => byKey(method, `/api/v1${path}`, body)) as Browser
  const { call } = await join(admin, service.url, 'member')
  const { id } = await ask(call, 'POST', '/busy-calendars', { url: `${calendars.url}/one.ics` })
  const read = await until(
    () => ask(call, 'GET', `/busy-calendars/${id}`),
    ({ status }) => status !== 'waiting',
    60_000,
  )
  assert.deepEqual([read.status, read.busy_count], ['ok', 1])
})
