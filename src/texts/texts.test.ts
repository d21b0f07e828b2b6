// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readTexts, service_texts_folder, serviceTexts } from '../../scripts/generate-texts.ts'

test('the compiled texts of the service are those of its messages, in each language', () => {
  for (const [name, text] of serviceTexts())
    assert.equal(
      readFileSync(join(service_texts_folder, 'generated', name), 'utf8'),
      text,
      `${name}: npm run types`,
    )
})

const keysOf = (messages: object, path = ''): string[] =>
  Object.entries(messages).flatMap(([key, value]) =>
    typeof value === 'object' ? keysOf(value, `${path}${key}.`) : [path + key],
  )

test('each language has the same messages, and none is unused', () => {
  const { en = {}, ...others } = readTexts(service_texts_folder)
  for (const texts of Object.values(others)) assert.deepEqual(keysOf(texts), keysOf(en))
  const code = ['messages', 'booking-messages', 'outbox', 'unsubscribe-routes']
    .map((name) => readFileSync(new URL(`../mails/${name}.ts`, import.meta.url), 'utf8'))
    .join('\n')
  // The last name of a message is read by name, or is a case of a kind.
  const cases = ['requested', 'confirmed', 'declined', 'moved', 'cancelled', 'replaced']
  const unused = keysOf(en).filter((key) => {
    const last = key.split('.').at(-1) ?? ''
    return !cases.includes(last) && !new RegExp(`\\.${last}\\b`).test(code)
  })
  assert.deepEqual(unused, [])
})
