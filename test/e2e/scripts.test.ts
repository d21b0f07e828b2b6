// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWeb, visit } from '../web.ts'

const web = useWeb()

const attacks = [
  '<img src=x onerror="window.attacked=1">',
  '"><script>window.attacked=1</script>',
  "javascript:window.attacked=1//'",
  '{{constructor.constructor("window.attacked=1")()}}',
]
const text = attacks.join(' ').slice(0, 240)
const link = 'javascript:window.attacked=1'

test('no text that anybody stores runs as a script, or becomes a link to one, on any screen', async (t) => {
  const { call, url } = web.rapport
  async function create(path: string, body: object): Promise<number | string> {
    const { status, body: answer } = await call('POST', `/api/v1${path}`, body)
    assert.equal(status, 201, JSON.stringify(answer))
    return answer.data.id
  }
  const custom_fields = { [attacks[0] as string]: text, link }
  const company_id = await create('/companies', {
    name: text,
    website: link,
    industry: text,
    phone: attacks[0],
    address: text,
    custom_fields,
  })
  const contact_id = await create('/contacts', {
    first_name: text,
    last_name: text,
    phone: attacks[0],
    mobile: attacks[0],
    title: text,
    source: text,
    stage: attacks[0],
    tags: attacks,
    custom_fields,
    company_id,
  })
  await create(`/contacts/${contact_id}/notes`, { body: attacks.join('\n') })
  const deal_id = await create('/deals', {
    name: text,
    priority: attacks[0],
    source: text,
    contact_id,
    company_id,
    value: 1,
  })
  await call('POST', `/api/v1/deals/${deal_id}/change-stage`, { stage: 'lost', lost_reason: text })
  const due_at = new Date().toISOString()
  const activity = { type: 'call', subject: text, body: text, due_at, contact_id }
  const activity_id = await create('/activities', activity)
  const start_at = new Date(Date.now() + 3600_000).toISOString()
  const end_at = new Date(Date.now() + 7200_000).toISOString()
  const appointment_id = await create('/appointments', {
    title: text,
    location: link,
    notes: text,
    start_at,
    end_at,
    contact_id,
  })
  const page_id = await create('/booking-pages', {
    slug: 'attack',
    title: text,
    description: text,
    time_zone: 'Europe/Berlin',
  })
  const events = ['contact.updated']
  const webhook = { name: text, url: 'http://127.0.0.1:9/<img/src=x/onerror=attacked=1>', events }
  const webhook_id = await create('/webhooks', webhook)
  await call('PUT', `/api/v1/contacts/${contact_id}`, { title: `${text}!` })
  const { body: deliveries } = await call('GET', '/api/v1/deliveries')
  await create('/keys', { name: text })
  await create('/views', { list: 'contacts', name: text, query: `search=${text}` })
  await create('/invitations', { email: 'attack@example.test', role: 'member' })
  await call('PUT', '/api/v1/workspace', { name: text })
  const headers = { cookie: web.cookie, 'content-type': 'application/json' }
  const named = await fetch(`${url}/api/v1/profile`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ name: text }),
  })
  assert.equal(named.status, 200)
  const gone = await create('/contacts', { first_name: text, last_name: text })
  await call('DELETE', `/api/v1/contacts/${gone}`)

  const page = await web.open(t, '/')
  page.on('dialog', (dialog) => assert.fail(dialog.message()))
  const screens = [
    '/',
    '/contacts',
    `/contacts?open=${contact_id}`,
    `/contacts/${contact_id}`,
    '/companies',
    `/contacts/${contact_id}?tab=notes`,
    `/companies/${company_id}`,
    '/deals',
    '/deals?view=table',
    `/deals/${deal_id}`,
    '/activities',
    `/activities/${activity_id}`,
    '/calendar',
    `/calendar/${appointment_id}`,
    '/booking-pages',
    `/booking-pages/${page_id}`,
    '/trash',
    '/audit-log',
    '/settings',
    '/settings/profile',
    '/settings/workspace',
    '/settings/members',
    '/settings/keys',
    '/reports?as=table',
    '/reports?report=people',
    '/settings/webhooks',
    `/settings/webhooks/${webhook_id}`,
    '/settings/deliveries',
    `/settings/deliveries/${deliveries.data[0].id}`,
    `/contacts?search=${encodeURIComponent(text)}`,
  ]
  let shown = 0
  for (const path of screens) {
    await visit(page, path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.locator('[aria-busy=true], .mantine-Skeleton-root').first().waitFor({ state: 'detached' })
    assert.equal(await page.evaluate('window.attacked'), undefined, path)
    const links = await page
      .locator('a')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''))
    assert.deepEqual(
      links.filter((href) => /^\s*(javascript|data|vbscript):/i.test(href)),
      [],
      path,
    )
    if ((await page.locator('body').innerText()).includes('onerror')) shown++
  }
  // They were there to be run.
  assert.ok(shown > screens.length / 2, String(shown))
})
