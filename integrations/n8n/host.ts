import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { use } from '../../test/use.ts'
import { buildNodes } from './build.ts'
import type { HttpAnswer, HttpRequest } from './src/sdk.ts'

// Runs the nodes in tests as n8n would.

type Loaded = {
  Rapport: typeof import('./src/Rapport.node.ts').Rapport
  RapportTrigger: typeof import('./src/RapportTrigger.node.ts').RapportTrigger
  RapportApi: typeof import('./src/RapportApi.credentials.ts').RapportApi
}

/** Packs the package, unpacks it in a folder, and loads its nodes as n8n does: each class by the name of its file. */
async function install(folder: string): Promise<Loaded> {
  const built = join(folder, 'built')
  mkdirSync(built)
  await buildNodes(built)
  const env = {
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: folder,
    npm_config_offline: 'true',
  }
  const [packed = ''] = execFileSync('npm', ['pack', '--silent', built], {
    cwd: folder,
    env,
    encoding: 'utf8',
  }).split('\n')
  execFileSync('tar', ['-xzf', packed], { cwd: folder })
  const installed = join(folder, 'package')
  const { n8n } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  const load = createRequire(join(installed, 'package.json'))
  const parts = [...n8n.credentials, ...n8n.nodes].map((file: string) => load(`./${file}`))
  return Object.assign({}, ...parts)
}

/** The nodes, and the folder in which they are installed, for the tests of a file. */
export const useNodes = (): Loaded & { folder: string } =>
  use(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rapport-n8n-'))
    const close = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    return { ...(await install(folder)), folder, close }
  })

export const credentialsOf = ({ url, key }: { url: string; key: string }) => ({ url: `${url}/`, key })

/** The request helper of n8n: axios, which throws for no status when asked not to. */
export async function request(this: unknown, name: string, sent: HttpRequest): Promise<HttpAnswer> {
  assert.equal(name, 'rapportApi')
  const { method, url, headers, body } = sent
  const answer = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body }),
  })
  return {
    statusCode: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: await answer.text(),
  }
}
