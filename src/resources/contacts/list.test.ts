// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { type Rapport, useRapport } from '../../../test/harness.ts'
import { before } from '../../../test/use.ts'
import { unlessBusy } from '../../../test/webhooks.ts'

const rapport = useRapport()

const path = '/api/v1/contacts'
type Call = Rapport['call']
type Named = { id: number; first_name: string }

/** An empty workspace with these contacts, made in order. */
async function workspace(contacts: object[]) {
  const call = await newWorkspace(rapport)
  const made: Named[] = []
  for (const contact of contacts) {
    const reply = await call('POST', path, { last_name: 'X', ...contact })
    assert.equal(reply.status, 201, reply.text)
    made.push(reply.body.data)
  }
  return { call, made }
}

async function list(call: Call, query = '') {
  const reply = await call('GET', path + query)
  assert.equal(reply.status, 200, reply.text)
  return reply.body as { data: Named[]; meta: Record<string, number> }
}

test('phone= finds a number that was copied with the separators of another program, typed or stored', async () => {
  const stored = ['+49 (30) 123-45', '+49\u00a030\u00a012345', '12']
  const { call } = await workspace(stored.map((phone) => ({ first_name: phone, phone })))
  const found = async (phone: string) => {
    const { data } = await list(call, `?${new URLSearchParams({ phone })}`)
    return data.map(({ first_name }) => first_name)
  }
  const [plain, pasted] = stored as [string, string]
  for (const phone of [
    '+49\u202f30\u202f12345',
    '+49 30 123\u201145',
    '+49 30 123\u2012\u201345',
    '\u202a+49 30 12345\u202c',
    '\uff0b\uff14\uff19\uff0830\uff0912345',
  ])
    assert.deepEqual(await found(phone), [pasted, plain], JSON.stringify(phone))
  assert.deepEqual(await found(pasted), [pasted, plain])
})

describe('paging', () => {
  let call: Call
  let newest_first: number[]
  before(async () => {
    const contacts = Array.from({ length: 130 }, (_, n) => ({
      first_name: `N${n}`,
      stage: n % 2 ? 'odd' : 'even',
    }))
    const all = await workspace(contacts)
    call = all.call
    newest_first = all.made.map(({ id }) => id).reverse()
  })

  test('lists are newest first, 25 to a page unless asked, at most 100', async () => {
    const cases: [string, number, number, number][] = [
      ['', 1, 25, 6],
      ['?page=2', 2, 25, 6],
      ['?page=2&per_page=100', 2, 100, 2],
      ['?per_page=101', 1, 100, 2],
      ['?per_page=1000000', 1, 100, 2],
      ['?page=130&per_page=1', 130, 1, 130],
    ]
    for (const [query, current_page, per_page, last_page] of cases) {
      const { data, meta } = await list(call, query)
      assert.deepEqual(meta, { current_page, last_page, per_page, total: 130 })
      const from = (current_page - 1) * per_page
      assert.deepEqual(
        data.map(({ id }) => id),
        newest_first.slice(from, from + per_page),
      )
    }
  })

  test('the pages together are the whole list, each record once, whatever their size and filter', async () => {
    for (const per_page of [1, 7, 64, 65, 66, 100])
      for (const query of ['', '&stage=odd', '&search=n', '&search=n&stage=even']) {
        const ids: number[] = []
        const { meta } = await list(call, `?per_page=${per_page}${query}`)
        const { total = 0, last_page = 0 } = meta
        for (let page = 1; page <= last_page; page++)
          ids.push(
            ...(await list(call, `?page=${page}&per_page=${per_page}${query}`)).data.map(({ id }) => id),
          )
        assert.equal(total, query.includes('stage') ? 65 : 130)
        const parity = query.includes('odd') ? 0 : 1
        const expected = query.includes('stage')
          ? newest_first.filter((_, n) => n % 2 === parity)
          : newest_first
        assert.deepEqual(ids, expected)
      }
  })

  test('a page past the end is empty and tells the true total; the last page of nothing is 1', async () => {
    for (const query of [
      'page=7',
      'page=9007199254740991&per_page=100',
      'page=99&search=n',
      'page=99&stage=odd',
    ]) {
      const { data, meta } = await list(call, `?${query}`)
      assert.deepEqual(data, [])
      assert.equal(meta.total, query.includes('odd') ? 65 : 130)
    }
    for (const query of ['?stage=none', '?search=none', '?company_id=999999']) {
      const { data, meta } = await list(call, query)
      assert.deepEqual(data, [])
      assert.deepEqual(meta, { current_page: 1, last_page: 1, per_page: 25, total: 0 })
    }
  })

  test('a bad parameter is 422 with its name, an unknown one 400', async () => {
    const bad = [
      'page=0',
      'page=-1',
      'page=x',
      'page=1.5',
      'page=',
      'page=1&page=2',
      'per_page=0',
      'per_page=-5',
    ]
    bad.push(
      'per_page=ten',
      'company_id=0',
      'company_id=x',
      'company_id=',
      `search=${'é'.repeat(256)}`,
      'stage=a&stage=b',
    )
    for (const query of bad) {
      const reply = await call('GET', `${path}?${query}`)
      assert.equal(reply.status, 422, query)
      assert.equal(reply.body.error.fields[0].field, query.split('=')[0])
    }
    assert.equal((await call('GET', `${path}?search=${'é'.repeat(255)}`)).status, 200)
    for (const query of ['status=open', 'Page=1', 'order=id'])
      assert.equal((await call('GET', `${path}?${query}`)).status, 400)
  })
})

test('a search takes %, _, backslashes and quotes as plain characters, and 10,000 characters are 422', async () => {
  const texts = ['100%', 'a_b', 'a\\b', "O'Neil", 'say "hi"', 'ends \\']
  const { call } = await workspace([...texts, 'axb', '100'].map((first_name) => ({ first_name })))
  for (const text of ['%', '_', '\\', "'", '"']) {
    const { data } = await list(call, `?search=${encodeURIComponent(text)}`)
    const expected = texts.filter((one) => one.includes(text))
    assert.deepEqual(data.map(({ first_name }) => first_name).sort(), expected.sort(), text)
  }
  // Three bytes for each of the others: 10,000 of them would be too long for a path.
  for (const text of ['x'.repeat(10_000), '%'.repeat(4000), '\\'.repeat(4000)]) {
    const reply = await call('GET', `${path}?search=${encodeURIComponent(text)}`)
    assert.deepEqual([reply.status, reply.body.error.fields[0].field], [422, 'search'])
  }
})

test('filters and search combine with AND, blank ones do not filter, a stage matches as a whole', async () => {
  const call = await newWorkspace(rapport)
  const company = async (name: string): Promise<number> =>
    (await call('POST', '/api/v1/companies', { name })).body.data.id
  const [acme, beta] = [await company('Acme'), await company('Beta')]
  const contacts = [
    { first_name: 'Ana', company_id: acme, stage: 'lead' },
    { first_name: 'Bea', company_id: acme, stage: 'Lead' },
    { first_name: 'Cia', company_id: beta, stage: 'lead' },
    { first_name: 'Dan', company_id: acme, stage: 'lead' },
    { first_name: 'Eva', stage: 'lead=hot & 100%' },
    { first_name: 'Fay' },
  ]
  for (const contact of contacts) await call('POST', path, { last_name: 'X', ...contact })
  const cases: Record<string, string> = {
    '?search=&stage=': 'Fay Eva Dan Cia Bea Ana',
    '?search=%20%09': 'Fay Eva Dan Cia Bea Ana',
    '?stage=lead': 'Dan Cia Ana',
    '?stage=%20lead%20': 'Dan Cia Ana',
    '?stage=Lead': 'Bea',
    '?stage=lea': '',
    '?stage=lead%3Dhot+%26+100%25': 'Eva',
    [`?company_id=${acme}`]: 'Dan Bea Ana',
    [`?company_id=${acme}&stage=lead`]: 'Dan Ana',
    [`?company_id=${beta}&stage=lead`]: 'Cia',
    [`?company_id=${beta}&stage=Lead`]: '',
    '?stage=lead&search=an': 'Dan Ana',
    [`?company_id=${acme}&search=ea`]: 'Bea',
    [`?company_id=${acme}&stage=lead&search=dan`]: 'Dan',
    [`?company_id=${beta}&stage=lead&search=dan`]: '',
  }
  for (const [query, expected] of Object.entries(cases)) {
    const { data, meta } = await list(call, query)
    assert.equal(data.map(({ first_name }) => first_name).join(' '), expected, query)
    assert.equal(meta.total, data.length)
  }
})

describe('search', () => {
  const people = [
    { first_name: 'José', last_name: 'Núñez', email: 'Jose.N@acme.example' },
    { first_name: 'Łukasz', last_name: 'Weiß', email: 'percent100%@beta.example' },
    { first_name: 'Anna-Maria', last_name: "O'Neill", email: null },
    { first_name: '小林', last_name: '陽子', email: 'yoko_k@acme.example' },
    { first_name: 'Ольга', last_name: 'Ёлкина', email: null },
    { first_name: 'Back\\slash', last_name: '"Quote" 50%_x', email: null },
    { first_name: 'Bo', last_name: 'Li', email: null },
  ]
  const cases: Record<string, string[]> = {
    jose: ['José'],
    'JOSÉ nunez': ['José'],
    'nún jos': ['José'],
    'acme.example': ['小林', 'José'],
    'ACME jose': ['José'],
    'jose beta': [],
    lukasz: ['Łukasz'],
    WEISS: ['Łukasz'],
    weiß: ['Łukasz'],
    maria: ['Anna-Maria'],
    "o'neill": ['Anna-Maria'],
    陽: ['小林'],
    林陽: [],
    '小林 陽子': ['小林'],
    елкина: ['Ольга'],
    bo: ['Bo'],
    'li bo': ['Bo'],
    '%': ['Back\\slash', 'Łukasz'],
    '0%': ['Back\\slash', 'Łukasz'],
    '100%': ['Łukasz'],
    '%%': [],
    _: ['Back\\slash', '小林'],
    '\\': ['Back\\slash'],
    '"': ['Back\\slash'],
    '"quote"': ['Back\\slash'],
    '"quo te': ['Back\\slash'],
    "'": ['Anna-Maria'],
    "'; --": [],
    'jose*': [],
    'jose OR maria': [],
    'NEAR(jose nunez)': [],
    '(jose)': [],
    'first_name:jose': [],
    '^jose': [],
    '-': ['Anna-Maria'],
    'a m r i -': ['Anna-Maria'],
  }
  let call: Call
  before(async () => {
    call = (await workspace(people)).call
  })
  for (const [query, expected] of Object.entries(cases))
    test(`for ${query} finds ${expected.join(' and ') || 'nobody'}`, async () => {
      const { data, meta } = await list(call, `?search=${encodeURIComponent(query)}`)
      assert.deepEqual(
        data.map(({ first_name }) => first_name),
        expected,
      )
      assert.equal(meta.total, expected.length)
    })

  test('sees every write as soon as it is acknowledged', async () => {
    const { call, made } = await workspace([{ first_name: 'Before', email: 'shared@acme.example' }])
    const at = `${path}/${made[0]?.id}`
    const total = async (query: string) => (await list(call, `?search=${query}`)).meta.total
    assert.equal(await total('before'), 1)
    await call('PUT', at, { first_name: 'Áfter' })
    assert.deepEqual(
      [await total('before'), await total('after'), await total('be'), await total('áf')],
      [0, 1, 0, 1],
    )
    await call('PUT', at, { email: null })
    assert.deepEqual([await total('shared'), await total('sh')], [0, 0])
    await call('DELETE', at)
    assert.deepEqual([await total('after'), await total('af')], [0, 0])
    await call('POST', `${at}/restore`)
    assert.deepEqual([await total('after'), await total('af')], [1, 1])
  })

  test('while contacts are made, each reader finds what was acknowledged to it', async () => {
    const call = await newWorkspace(rapport)
    await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        const first_name = `Reader${String.fromCharCode(97 + (n % 26))}${n}x`
        await unlessBusy(() => call('POST', path, { first_name, last_name: 'Busy' }))
        const { data } = await list(call, `?search=${first_name}`)
        assert.deepEqual(
          data.map((one) => one.first_name),
          [first_name],
        )
      }),
    )
    assert.equal((await list(call, '?search=busy')).meta.total, 40)
  })
})
