// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choiceNameOf, orderedMembers } from '../../web/src/record/fields/member-names.ts'

const member = (id: string, name: string) => ({ id, name, email: `${id}@example.test` })
const members = [
  member('zoe', 'Zoë'),
  member('ada', 'Ada'),
  member('emil', 'Émil'),
  member('ada2', 'Ada'),
  member('fritz', 'Fritz'),
]

test('members are offered by name, the person first', () => {
  const names = orderedMembers(members, 'fritz').map(({ name }) => name)
  assert.deepEqual(names, ['Fritz', 'Ada', 'Ada', 'Émil', 'Zoë'])
  const without_self = orderedMembers(members, 'nobody').map(({ name }) => name)
  assert.deepEqual(without_self, ['Ada', 'Ada', 'Émil', 'Fritz', 'Zoë'])
})

test('two members of the same name are told apart by their e-mail', () => {
  const names = members.map((one) => choiceNameOf(one, members))
  assert.deepEqual(names, ['Zoë', 'Ada (ada@example.test)', 'Émil', 'Ada (ada2@example.test)', 'Fritz'])
})
