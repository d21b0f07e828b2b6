// runs: once
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { startRapport } from '../test/harness.ts'
import { startReceiver } from '../test/receiver.ts'
import { installClient } from './package.ts'

const compiler = fileURLToPath(new URL('../node_modules/typescript-native/bin/tsc', import.meta.url))
const node_types = fileURLToPath(new URL('../node_modules/@types', import.meta.url))
const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8')
const setup = /^import { createClient }[\s\S]*?\nconst client = .*\n/

/** The examples of the README, each as a program. */
const [first = '', ...others] = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code)
const [prelude = ''] = setup.exec(first) ?? []
const examples = [first, ...others.map((code) => (code.includes('client.') ? prelude + code : code))]

const uses = `import { createClient, type EventOf, type Contact, verifyWebhook } from '@rapport/client'
const client = createClient({ url: 'https://crm.example', key: 'crm_x' })
export async function use(request: Request): Promise<number> {
  const event = await verifyWebhook(request.headers, await request.arrayBuffer(), 's')
  if (event.event === 'deal.stage_changed') return event.data.new_stage?.length ?? 0
  // @ts-expect-error: every field but the id is null after an erasure.
  if (event.event === 'deal.won') return event.data.name.length
  if (event.event === 'contact.updated') return event.changed_fields?.length ?? 0
  // @ts-expect-error: a contact has no stage of a deal.
  if (event.event === 'contact.created') return event.data.new_stage
  const won: EventOf<'deal.won'> | undefined = undefined
  const contact: Contact = await client.contacts.get(7)
  await client.contacts.update(7, contact)
  // @ts-expect-error: the last name is missing.
  await client.contacts.create({ first_name: 'Ana' })
  // @ts-expect-error: there is no such filter.
  await client.contacts.list({ stages: 'lead' })
  await client.contacts.batch({ items: [{ op: 'upsert', match: 'custom_fields.number', data: {} }] })
  await client.activities.batch({ items: [{ op: 'upsert', match: 'custom_fields.number', data: {} }] })
  // @ts-expect-error: an upsert of contacts cannot match by the phone.
  await client.contacts.batch({ items: [{ op: 'upsert', match: 'phone', data: {} }] })
  await client.contacts.list({ custom_fields: { region: 'EMEA' }, 'custom_fields[seats]_from': 10 })
  // @ts-expect-error: a range has two ends, from and to.
  await client.contacts.list({ 'custom_fields[seats]_until': 10 })
  // @ts-expect-error: a stage of a deal is one of a list.
  await client.deals.changeStage(7, { stage: 'gone' })
  for await (const { first_name } of client.contacts.each({ stage: 'lead' })) console.log(first_name, won)
  return (await client.contacts.list()).meta.total ?? 0
}
`

let installed: Awaited<ReturnType<typeof installClient>>
before(async () => {
  installed = await installClient()
  const { folder } = installed
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'uses.ts'), uses)
  for (const [index, code] of examples.entries()) writeFileSync(join(folder, `example-${index}.ts`), code)
  // The types of Node declare it. The other platforms have it, too, and no types for it.
  const env = 'declare const process: { env: Record<string, string | undefined> }\n'
  writeFileSync(join(folder, 'env.d.ts'), env)
})
after(() => installed.remove())

const libraries = {
  Node: { lib: ['es2023'], types: ['node'], typeRoots: [node_types], files: [] },
  workers: { lib: ['es2023', 'webworker'], types: [], files: ['env.d.ts'] },
  'Deno and browsers': {
    lib: ['esnext', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [],
    files: ['env.d.ts'],
  },
}
for (const [name, { files, ...more }] of Object.entries(libraries))
  test(`the types hold with the libraries of ${name}: events by name, bodies, filters, and the README`, () => {
    const folder = join(installed.folder, `types-${Object.keys(libraries).indexOf(name)}`)
    mkdirSync(folder)
    const names = ['uses.ts', ...files, ...examples.map((_, index) => `example-${index}.ts`)]
    const compilerOptions = {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      ...more,
    }
    const config = { compilerOptions, files: names.map((file) => `../${file}`) }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    try {
      execFileSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
    } catch (error) {
      assert.fail((error as { stdout: string }).stdout)
    }
  })

test('the examples of the README run, in their order', async (t) => {
  const service = await startRapport()
  t.after(() => service.close())
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const client = installed.module.createClient({ url: service.url, key: service.key })
  const webhook = await client.webhooks.create({ url: receiver.url, events: ['deal.won'] })
  const env = { RAPPORT_URL: service.url, RAPPORT_API_KEY: service.key, WEBHOOK_SECRET: webhook.secret }
  const process_env = process.env
  process.env = { ...process_env, ...env }
  t.after(() => {
    process.env = process_env
  })
  const printed: string[] = []
  t.mock.method(console, 'log', (...words: unknown[]) => printed.push(words.join(' ')))

  let handler: { fetch(request: Request): Promise<Response> } | undefined
  for (const index of examples.keys())
    handler =
      (await import(pathToFileURL(join(installed.folder, `example-${index}.ts`)).href)).default ?? handler
  const [delivery] = await receiver.waitFor(1)
  assert.ok(handler && delivery)
  const sent = (body: string) =>
    new Request('https://shop.example/hook', {
      method: 'POST',
      headers: delivery.headers as Record<string, string>,
      body,
    })
  assert.equal((await handler.fetch(sent(delivery.body))).status, 204)
  assert.equal((await handler.fetch(sent('{}'))).status, 401)

  assert.ok(printed.includes('last_name last_name is required.'))
  assert.ok(printed.includes('Desk lamps is worth 1250.5'))
  assert.ok(printed.some((line) => /^422 validation_failed req_/.test(line)))
})

test('the package has no dependencies, and no more than its code, its README and its licence', () => {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json'], {
    cwd: join(installed.folder, 'node_modules/@rapport/client'),
    encoding: 'utf8',
  })
  const [{ files, size }] = JSON.parse(packed)
  for (const { path } of files)
    assert.match(path, /^(dist\/[\w/]+\.(js|d\.ts)|README\.md|LICENSE|package\.json)$/)
  const code = globSync('node_modules/@rapport/client/dist/**/*.js', { cwd: installed.folder })
  for (const file of code)
    for (const [, name] of readFileSync(join(installed.folder, file), 'utf8').matchAll(/ from '(.*?)'/g))
      assert.match(String(name), /^\.\.?\//)
  assert.ok(code.length > 5)
  assert.ok(size < 50_000, `${size} bytes`)
})
