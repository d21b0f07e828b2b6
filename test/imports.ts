import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { tar_end, tarFile } from '../src/files/tar.ts'
import type { Rapport, Reply } from './harness.ts'
import { until } from './webhooks.ts'

/** The operations of imports that write. src/imports tests their entries in the audit log. */
export const import_operations = [
  'post /imports',
  'post /imports/preview',
  'post /imports/{import_id}/cancel',
  'post /imports/{import_id}/undo',
]

type Called = Pick<Rapport, 'url' | 'key' | 'call'>

/** The archive of a workspace with these files. */
export const archiveOf = (files: Record<string, string>) =>
  gzipSync(
    Buffer.concat([
      ...Object.entries(files).map(([name, text]) => tarFile(name, Buffer.from(text), 0)),
      tar_end,
    ]),
  )

/** Uploads a file; returns the answer. */
export async function upload(
  { url, key }: Pick<Called, 'url' | 'key'>,
  path: string,
  file: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(`${url}/api/v1/imports${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'text/csv', ...headers },
    body: file as never,
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}

/** Waits until an import has ended. */
export async function ended({ call }: Pick<Called, 'call'>, id: string) {
  const reply = await until(
    () => call('GET', `/api/v1/imports/${id}`),
    ({ body }) => !['queued', 'running'].includes(body.data?.status),
  )
  return reply.body.data
}

/** Imports a file and waits for its end. */
export async function importFile(
  rapport: Called,
  query: Record<string, string>,
  file: string | Uint8Array,
  headers: Record<string, string> = {},
) {
  const reply = await upload(rapport, `?${new URLSearchParams(query)}`, file, headers)
  assert.equal(reply.status, 202, reply.text)
  return ended(rapport, reply.body.data.id)
}

/** Imports lines of files, and finds their records. */
export function importsOf(rapport: Called) {
  const found = async (path: string) => (await rapport.call('GET', `/api/v1/${path}`)).body.data
  return {
    found,
    /** The newest record that a search finds. */
    async detailsOf(resource: string, search: string) {
      const [{ id }] = await found(`${resource}?search=${encodeURIComponent(search)}&sort=-id`)
      return found(`${resource}/${id}`)
    },
    /** The import of some lines, and its errors: the number of the row, the field and the code. */
    async run(query: Record<string, string>, lines: readonly string[]) {
      const done = await importFile(rapport, query, `${lines.join('\n')}\n`)
      const { text } = await rapport.call('GET', `/api/v1/imports/${done.id}/errors`)
      const [, ...rows]: string[][] = parse(text)
      return { ...done, reported: rows.map(([row, field, , , code]) => [Number(row), field, code]) }
    },
  }
}
