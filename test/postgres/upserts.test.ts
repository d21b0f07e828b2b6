import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService } from '../faults/service.ts'
import { scratchFolder } from '../process.ts'

test('50 upserts of one new e-mail address, in four processes, make one contact', async (t) => {
  const data_dir = scratchFolder(t)
  const first = await startService(data_dir)
  const { key } = first
  const others = await Promise.all([1, 2, 3].map(() => startService(data_dir, { key })))
  const services = [first, ...others]
  t.after(() => Promise.all(services.map((service) => service.end('SIGKILL'))))
  const name = { first_name: 'Ana', last_name: 'Ruiz' }
  const upsert = (email: string) => ({ op: 'upsert', match: 'email', data: { ...name, email } })
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      // Several addresses in different orders: the batches wait for each other, and none fails.
      services[n % 4]?.call('POST', '/api/v1/contacts/batch', {
        items: ['a', 'b', 'c', 'd', 'e'].map((_, at, all) => upsert(`${all[(at + n) % 5]}@acme.example`)),
      }),
    ),
  )
  for (const reply of replies) assert.equal(reply?.status, 200, reply?.text)
  const ids = new Set(replies.flatMap((reply) => reply?.body.data.map(({ id }: { id: number }) => id)))
  assert.equal(ids.size, 5)
  assert.equal((await first.call('GET', '/api/v1/contacts')).body.meta.total, 5)
})
