// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { migrations } from './index.ts'

test('every migration says in its file whether it expands or contracts the schema', () => {
  for (const { name, kind } of migrations) {
    const text = readFileSync(new URL(`${name}.ts`, import.meta.url), 'utf8')
    assert.ok(kind === 'expand' || kind === 'contract', `${name} needs kind: 'expand' or kind: 'contract'.`)
    assert.ok(text.includes(`\n  kind: '${kind}',\n`), `${name} says its kind itself.`)
  }
})

// A process of the version before inserts no value for a new column, and still uses what it knows.
const breaks = [
  /\bDROP (TABLE|COLUMN|CONSTRAINT|INDEX|TRIGGER|FUNCTION|TYPE)\b/i,
  /\bRENAME\b/i,
  /\bALTER COLUMN\b/i,
  /\bADD (CONSTRAINT|UNIQUE|CHECK|FOREIGN KEY|EXCLUDE)\b/i,
  /\bADD COLUMN\b(?!.*\bDEFAULT\b).*\bNOT NULL\b/i,
]

/** The first statement of an expand migration that an older process cannot run beside. */
function breaking(statements: string[]): string | undefined {
  // An older process does not use tables that this migration makes.
  const made = statements.flatMap((text) => /^\s*CREATE TABLE (\w+)/i.exec(text)?.[1] ?? [])
  return statements.find(
    (text) =>
      (breaks.some((pattern) => pattern.test(text)) || /\bCREATE UNIQUE INDEX\b/i.test(text)) &&
      !made.some((table) => new RegExp(`\\b${table}\\b`).test(text)),
  )
}

test('an expand migration removes, renames and restricts nothing', () => {
  for (const { name, kind, statements } of migrations)
    for (const engine of ['sqlite', 'postgres'] as const)
      if (kind === 'expand') assert.equal(breaking(statements(engine)), undefined, `${name} is not expand.`)
})

test('what an older process cannot run beside is found', () => {
  for (const text of [
    'DROP TABLE contacts',
    'ALTER TABLE contacts DROP COLUMN title',
    'ALTER TABLE contacts RENAME COLUMN title TO job',
    'ALTER TABLE contacts ALTER COLUMN title TYPE bigint',
    'ALTER TABLE contacts ADD COLUMN job text NOT NULL',
    'ALTER TABLE contacts ADD CONSTRAINT short CHECK (length(title) < 9)',
    'CREATE UNIQUE INDEX contacts_title ON contacts (workspace_id, title)',
  ])
    assert.equal(breaking([text]), text)
  for (const text of [
    'ALTER TABLE contacts ADD COLUMN job text',
    "ALTER TABLE contacts ADD COLUMN job text NOT NULL DEFAULT ''",
    'CREATE INDEX contacts_job ON contacts (workspace_id, job, id)',
  ])
    assert.equal(breaking([text]), undefined)
  assert.equal(
    breaking(['CREATE TABLE jobs (id text)', 'CREATE UNIQUE INDEX jobs_id ON jobs (id)']),
    undefined,
  )
})
