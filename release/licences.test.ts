// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { licencesWithTexts } from './licences.ts'

test('a release has the copyright notice and the licence of each package that it contains', () => {
  const [page = '', ...texts] = licencesWithTexts().split('\n## ')
  const notices = new Map(
    texts.flatMap(
      (text) =>
        text
          .split('\n', 1)[0]
          ?.split(', ')
          .map((name) => [name, text]) ?? [],
    ),
  )
  const listed = [...page.matchAll(/^\| .* \| \d+ \| (.*) \|$/gm)].flatMap(([, names = '']) =>
    names.split(', '),
  )
  assert.ok(listed.length > 150)
  // Node itself is beside the executable, with a file of its own.
  const others = listed.filter((name) => !/^node-(bin-)?(linux|darwin|win)/.test(name))
  assert.deepEqual(
    others.filter((name) => !notices.has(name)),
    [],
  )
  for (const [name, notice] of [
    ['fastify', /Copyright \(c\) 2016-present The Fastify/],
    ['react', /Copyright \(c\) Meta Platforms/],
    ['@modelcontextprotocol/server', /Apache License/],
    ['pg', /Copyright \(c\) 2010 - \d+ Brian Carlson/],
    // These packages have no text of their licence.
    ['pgpass', /has no text of it\..*Copyright \(c\) Hannes Hörl\n.*WITHOUT WARRANTY OF ANY KIND/s],
    ['@redis/client', /has no text of it\..*Copyright \(c\) The authors of @redis\/client\n/s],
  ] as const)
    assert.match(notices.get(name) ?? '', notice)
})
