import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'

test('the document of the pages without a session runs in a browser without requestIdleCallback, such as Safari', () => {
  const document = readFileSync(new URL('../../web/open.html', import.meta.url), 'utf8')
  const [, script = ''] = /<script nonce[^>]*>(.*?)<\/script>/s.exec(document) ?? []
  const loaded: (() => void)[] = []
  const browser = {
    matchMedia: () => ({ matches: false, addEventListener() {} }),
    localStorage: { getItem: () => null },
    document: { documentElement: { setAttribute() {} } },
    addEventListener: (name: string, listener: () => void) => name === 'load' && loaded.push(listener),
  }
  runInNewContext(script, Object.assign(browser, { window: browser }))
  assert.equal(loaded.length, 1)
  for (const listener of loaded) assert.doesNotThrow(listener)
})
