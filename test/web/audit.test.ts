// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReadRights } from '../../src/http/scopes.ts'
import { resources } from '../../src/resources/index.ts'
import { linksOf, namesOf } from '../../web/src/trash/record-links.ts'
import { de, en } from './texts.ts'

test('every kind of the audit log has a name in each language', () => {
  const { kinds: all } = createReadRights(resources)
  assert.ok(all.length > 10)
  for (const { kinds, trash } of [en, de])
    for (const names of [trash.kinds, trash.kinds_in_sentence])
      assert.deepEqual(
        all.filter((kind) => !(kind in kinds || kind in names)),
        [],
      )
})

test('an entry about a custom field has its label, and links to the fields', () => {
  const entry = {
    kind: 'custom_fields',
    record_id: 8,
    action: 'created',
    before: null,
    after: { resource: 'deals', key: 'region', label: 'Sales region' },
    title: null,
    actor: { id: null, name: null },
  }
  assert.equal(namesOf([entry])(entry), 'Sales region')
  assert.deepEqual(linksOf([entry], {})(entry), { to: '/settings/fields' })
  const removed = { ...entry, action: 'deleted', before: { key: 'region' }, after: null }
  assert.equal(namesOf([removed])(removed), 'region')
})

test('the author of a record is named as its language does it', () => {
  const added = ({ record }: typeof en, by: string) => record.added_at_by({ by, when: '…' })
  assert.equal(added(en, en.record.by_kinds.service), 'Added by the service …')
  assert.equal(added(de, de.record.by_kinds.service), 'Angelegt vom Dienst …')
  assert.equal(added(de, de.record.by({ who: 'Gerda' })), 'Angelegt von Gerda …')
})
