// runs: once
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { scratchFolder } from '../../test/process.ts'
import { runRapport } from '../../test/run-rapport.ts'
import { tar_end, tarFile } from '../files/tar.ts'

async function serving(t: TestContext, answer: (response: ServerResponse) => void) {
  const requests: string[] = []
  const server = createServer(({ url = '', headers }, response) => {
    requests.push(`${url} ${headers.authorization}`)
    answer(response)
  }).listen(0, '127.0.0.1')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** Exports `name` from a server that sends `content` and ends its answer well. */
async function exported(t: TestContext, name: string, content: string | Buffer, total?: string) {
  const { url } = await serving(t, (response) => {
    if (total !== undefined) response.setHeader('x-total-count', total)
    response.end(content)
  })
  const folder = scratchFolder(t)
  const env = { DATA_DIR: folder, RAPPORT_URL: url, RAPPORT_API_KEY: 'key' }
  const resource = name.endsWith('.gz') ? 'workspace' : 'contacts'
  const { code, stderr } = await runRapport(['export', resource, join(folder, name)], env)
  return { code, stderr, files: readdirSync(folder) }
}

const archive = gzipSync(Buffer.concat([tarFile('a.ndjson', Buffer.from('{}\n'), 0), tar_end]))

test('an export that ends before its end is an error and leaves no file, although the answer ended well', async (t) => {
  for (const [name, content, total] of [
    ['a.csv', 'id', '1'],
    ['a.csv', 'ok', '0'],
    ['a.csv', '', '0'],
    ['a.csv', 'id\r\n1\r\n', '2'],
    ['a.csv', 'id\r\n1\r\n2', '2'],
    ['a.csv', 'id\r\n1,"a\r\n', '1'],
    ['a.csv', 'id\r\n1,"a\r\nb"\r\n', '2'],
    ['a.csv', 'id\r\n1\r\n2\r\n', '1'],
    ['a.csv', 'id\r\n1\r\n', undefined],
    ['a.csv', 'id\r\n1\r\n', 'one'],
    ['a.ndjson', '', '1'],
    ['a.ndjson', '{"a":"\\""}\n{}', '2'],
    ['a.tar.gz', '', undefined],
    ['a.tar.gz', 'ok', undefined],
    ['a.tar.gz', archive.subarray(0, -1), undefined],
    ['a.tar.gz', archive.subarray(0, 30), undefined],
    ['a.tar.gz', gzipSync(tarFile('a.ndjson', Buffer.from('{}\n'), 0)), undefined],
  ] as const) {
    const { code, stderr, files } = await exported(t, name, content, total)
    assert.deepEqual([code, files], [1, []], `${content} of ${total}`)
    assert.match(stderr, /^rapport: (The export broke off \(.+\)\. Run|http.* without X-Total-Count.* Check)/)
  }
})

test('bytes after the end of an archive are an error, also while the server keeps the connection open', async (t) => {
  for (const trailing of ['x', 'x'.repeat(200_000), '\0', archive])
    for (const [at_once, ends] of [
      [true, false],
      [false, false],
      [false, true],
    ] as const) {
      const { url } = await serving(t, (response) => {
        if (at_once) response.write(Buffer.concat([archive, Buffer.from(trailing)]))
        else {
          response.write(archive)
          setTimeout(() => {
            response.write(trailing)
            if (ends) response.end()
          }, 100)
        }
      })
      const folder = scratchFolder(t)
      const env = { DATA_DIR: folder, RAPPORT_URL: url, RAPPORT_API_KEY: 'key' }
      const { code, stderr } = await runRapport(['export', 'workspace', join(folder, 'a.tar.gz')], env)
      assert.deepEqual([code, readdirSync(folder)], [1, []], `${trailing.length} ${at_once} ${ends}`)
      assert.match(stderr, /^rapport: The export broke off \(it has bytes after its end\)\. Run/)
    }
})

test('a whole export is written: no rows, quoted line breaks, lines of JSON, an archive', async (t) => {
  for (const [name, content, total] of [
    ['a.csv', 'id\r\n', '0'],
    ['a.csv', 'id,"a""\n"\r\n1,"a\r\n""b"\r\n', '1'],
    ['a.ndjson', '', '0'],
    ['a.ndjson', '{"a":"\\""}\n{}\n', '2'],
    ['a.tar.gz', archive, undefined],
  ] as const) {
    const { code, stderr, files } = await exported(t, name, content, total)
    assert.deepEqual([code, stderr, files], [0, '', [name]])
  }
})

test('a redirect is refused in every command that calls the API: another address gets no request', async (t) => {
  const other = await serving(t, (response) => response.end('id\r\n'))
  const own = await serving(t, (response) =>
    response.writeHead(307, { location: `${other.url}/x`, 'x-total-count': '0' }).end('id\r\n'),
  )
  const folder = scratchFolder(t)
  const env = { DATA_DIR: folder, HOME: folder, RAPPORT_URL: own.url, RAPPORT_API_KEY: 'key' }
  for (const words of [
    ['export', 'contacts', join(folder, 'out.csv')],
    ['import', 'contacts', import.meta.filename],
    ['listen', '--forward', 'http://127.0.0.1:9/'],
  ]) {
    const { code, stderr } = await runRapport(words, env)
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `rapport: ${own.url} redirects to ${other.url}/x. Set RAPPORT_URL to the address of the service.`,
    )
  }
  assert.deepEqual([own.requests.length, other.requests], [3, []])
})
