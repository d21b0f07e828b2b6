// runs: once
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { before } from '../test/use.ts'

// The blocks of the page name their files. They are written into a copy of the sources, as a contributor would write them.

const root = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(new URL('add-a-resource.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/^```(tsx?|diff) (\S+)\n([\s\S]*?)^```/gm)].map(
  ([, form = '', path = '', text = '']) => ({ form, path, text }),
)

const copied = ['src', 'demo', 'web/src', 'web/tsconfig.json', 'scripts', 'docs/openapi.json', 'package.json']
const folder = mkdtempSync(join(tmpdir(), 'rapport-resource-'))
after(() => rmSync(folder, { recursive: true }))

const run = (...command: string[]) => {
  try {
    execFileSync(process.execPath, command, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    assert.fail(`${command.join(' ')}: ${stdout}${stderr}`)
  }
}
// Without the cache of the project, which node_modules leads to.
const checkTypes = (config: string) =>
  run(
    ...['node_modules/typescript-native/bin/tsc', '--noEmit', '-p', config],
    ...['--incremental', 'false', '--tsBuildInfoFile', 'null'],
    // Several would each look into what the others have checked: that takes twice the CPU time.
    ...['--checkers', '1'],
  )

/** Puts each group of new lines before the line that follows it in the diff. */
function applied(text: string, diff: string, path: string): string {
  let added = ''
  for (const line of diff.split('\n').slice(0, -1)) {
    if (line.startsWith('+')) {
      added += `${line.slice(1)}\n`
      continue
    }
    const at = `\n${text}`.indexOf(`\n${line.slice(1)}\n`)
    assert.notEqual(at, -1, `${path} has the line: ${line.slice(1)}`)
    text = text.slice(0, at) + added + text.slice(at)
    added = ''
  }
  assert.equal(added, '', `A diff of ${path} ends with a line that is there.`)
  return text
}

before(() => {
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const { form, path, text } of blocks) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, form === 'diff' ? applied(readFileSync(file, 'utf8'), text, path) : text)
  }
})

test('the server with the resource of the page passes the check of its types', () => {
  assert.ok(blocks.length >= 18, `${blocks.length} blocks`)
  const config = { extends: join(root, 'tsconfig.json'), include: ['src/main.ts'], exclude: [] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  checkTypes('.')
})

test('its records are stored, and those of the seed have the text that a search finds', () => {
  const DATA_DIR = join(folder, 'data')
  const env = { ...process.env, DATA_DIR }
  for (const command of ['migrate', 'seed'])
    execFileSync(process.execPath, ['src/main.ts', command], { cwd: folder, env, stdio: 'pipe' })
  const database = new DatabaseSync(join(DATA_DIR, 'rapport.db'))
  const products = database.prepare("SELECT id FROM products WHERE search_text LIKE '%dl-7%'").all()
  database.close()
  assert.equal(products.length, 1)
})

test('the server starts with it, and the web app passes the check of its types', () => {
  run('scripts/generate-openapi.ts')
  const document = readFileSync(join(folder, 'docs/openapi.json'), 'utf8')
  assert.match(document, /"createProduct"/)
  const { webhooks, components } = JSON.parse(document)
  const { example } = webhooks['product.created'].post.requestBody.content['application/json']
  assert.deepEqual(example.data.contact, { id: 3, first_name: 'Ana', last_name: 'Ruiz' })
  const { Found, ViewCreate } = components.schemas
  for (const { enum: kinds } of [Found.properties.kind, ViewCreate.properties.list])
    assert.ok(kinds.includes('products'))
  run('scripts/generate-client-types.ts')
  run('scripts/generate-texts.ts')
  checkTypes('web')
})
