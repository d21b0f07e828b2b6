// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRapport } from '../harness.ts'

const rapport = useRapport()

const names = [
  'Ångström Optics',
  'Blue Peak 100% Energy',
  'Blue_Water',
  'Lumen\\Light "A"',
  'blue peak energy',
]

for (const resource of ['companies', 'deals'])
  test(`${resource} are found by every word of their name, whatever its case, accents and signs`, async () => {
    const path = `/api/v1/${resource}`
    for (const name of names) assert.equal((await rapport.call('POST', path, { name })).status, 201)
    const found = async (search: string, more = '') => {
      const { status, body } = await rapport.call(
        'GET',
        `${path}?search=${encodeURIComponent(search)}${more}`,
      )
      assert.equal(status, 200)
      return body.data.map(({ name }: { name: string }) => name)
    }
    const [angstrom, percent, underscore, backslash, small] = names
    assert.deepEqual(await found('angstrom'), [angstrom])
    assert.deepEqual(await found('ENERGY blu'), [small, percent])
    assert.deepEqual(await found('%'), [percent])
    assert.deepEqual(await found('_'), [underscore])
    assert.deepEqual(await found('n\\l'), [backslash])
    assert.deepEqual(await found('"a"'), [backslash])
    assert.deepEqual(await found('  '), names.toReversed())
    assert.deepEqual(await found('nothing'), [])
    assert.deepEqual(await found('blue', '&sort=name&per_page=2'), [percent, small])
    const { body } = await rapport.call('GET', `${path}?search=blue&per_page=2&page=2&sort=name`)
    assert.equal(body.meta.total, 3)
    assert.deepEqual(
      body.data.map(({ name }: { name: string }) => name),
      [underscore],
    )
    const part = await rapport.call('GET', `${path}?search=blue&per_page=2&cursor=start`)
    assert.equal(part.body.data.length, 2)
    const rest = await rapport.call(
      'GET',
      `${path}?search=blue&per_page=2&cursor=${part.body.meta.next_cursor}`,
    )
    assert.deepEqual(
      rest.body.data.map(({ name }: { name: string }) => name),
      [percent],
    )
    await rapport.call('DELETE', `${path}/${part.body.data[0].id}`)
    assert.equal((await rapport.call('GET', `${path}?search=blue`)).body.meta.total, 2)
  })
