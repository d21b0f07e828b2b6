import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnableClock, useRapport } from '../../../test/harness.ts'
import { upload } from '../../../test/imports.ts'
import { besideMails, mailsOf } from '../../../test/mails.ts'
import { ask, join, keyCaller, setUp } from '../../../test/people.ts'
import { until } from '../../../test/webhooks.ts'
import { resources } from '../../resources/index.ts'
import { writeDigests } from '../notifications/digests.ts'

// The service stands at this time, and its own job has nothing to write: the digests of that day are over.
const clock = turnableClock(Date.parse('2026-11-21T23:30:00.000Z'))
const rapport = useRapport({ clock })
const key = keyCaller(rapport)

test('an erased contact is named in no digest and no mail about a file with their name, and other mails stay', async () => {
  const ada = await setUp(rapport)
  const members = [await join(ada, rapport.url, 'admin'), await join(ada, rapport.url, 'admin')]
  for (const { call } of members)
    await ask(call, 'PUT', '/profile', { time_zone: 'UTC', mail_preferences: { daily_digest: true } })
  const people = [
    { first_name: 'Zébuline', last_name: 'Quørndale' },
    { first_name: 'Ana', last_name: 'Ruiz' },
  ]
  const ids: number[] = []
  for (const [n, person] of people.entries()) {
    const { id } = await ask(key, 'POST', '/contacts', { ...person, owner_id: members[n]?.id })
    ids.push(id)
    const query = new URLSearchParams({
      resource: 'contacts',
      file_name: `${person.last_name}, ${person.first_name}.csv`,
    })
    const headers = { authorization: '', cookie: members[0]?.call.cookie() ?? '' }
    const { status, text } = await upload(rapport, `?${query}`, 'first_name,last_name\nBo,Berg\n', headers)
    assert.equal(status, 202, text)
  }
  const now = () => Date.parse('2026-11-22T08:00:00.000Z')
  await besideMails(rapport, (db) =>
    writeDigests(
      { db, clock: { now, elapsed: clock.elapsed }, resources, readableKinds: () => null },
      new AbortController().signal,
    ),
  )
  const texts = async () => {
    const shown = await mailsOf(rapport)
    const kinds = ['daily_digest', 'import_ended']
    const wanted = shown.filter(({ kind }) => kinds.includes(kind))
    return Promise.all(wanted.map(async ({ id }) => (await ask(key, 'GET', `/mails/${id}`)).text as string))
  }
  const naming = (all: string[]) =>
    people.map(({ last_name }) => all.filter((text) => text.includes(last_name)).length)
  await until(texts, (all) => String(naming(all)) === '2,2')

  await ask(key, 'DELETE', `/contacts/${ids[0]}`)
  await key('DELETE', `/trash/contacts/${ids[0]}`)
  assert.deepEqual(naming(await texts()), [0, 2])
})
