import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { readScalar } from '../src/http/openapi/scalar.ts'
import { buildThisWebApp } from '../src/web/build.ts'
import { bundle } from './bundle.ts'
import { licencesWithTexts } from './licences.ts'
import { root } from './root.ts'
import { sourcesDigest } from './sources.js'

// Makes dist/, which is also the content of the npm package: node release/build.ts

const { version, description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
// The lowest version that has argon2 and the parts of node:sqlite and node:sea that this program uses.
const lowest_node = '>=24.11'

/** The package.json of the npm package. It has no dependencies: the program is one bundle. */
const manifest = {
  name: '@rapport/server',
  version,
  description,
  license,
  type: 'module',
  bin: { rapport: 'main.js' },
  engines: { node: lowest_node },
  // All but .cache, which a run of the program makes. npm adds README.md and LICENSE.
  files: [
    'main.js',
    'main.js.map',
    'build.json',
    'CHANGELOG.md',
    'licences.md',
    'parts',
    'threads',
    'web',
    'docs',
  ],
}

const compress = (bytes: Buffer) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })

/** Builds the program and its files into a folder, which is replaced when all of it is built. */
export async function build(target = join(root, 'dist')): Promise<void> {
  const sources = sourcesDigest(root)
  const web = await buildThisWebApp(console.log)
  const fresh = `${target}-${process.pid}`
  try {
    await bundle(
      { main: 'release/program/main.ts' },
      {
        dir: fresh,
        format: 'esm',
        sourcemap: true,
        banner: ({ isEntry }) => (isEntry ? '#!/usr/bin/env node' : ''),
        chunkFileNames: 'parts/[name]-[hash].js',
      },
    )
    // A thread runs this text as a script. So a short name in it must not be that of a global of V8, such as `gc`.
    const scope = { banner: '(() => {', footer: '})()' }
    await bundle(
      { busy: 'src/busy/thread.ts' },
      { file: join(fresh, 'threads/busy.cjs'), format: 'cjs', codeSplitting: false, ...scope },
    )
    removeSourceTexts(join(fresh, 'parts'))
    cpSync(web, join(fresh, 'web'), { recursive: true })
    mkdirSync(join(fresh, 'docs'))
    writeFileSync(join(fresh, 'docs/scalar.js.br'), compress(Buffer.from(await readScalar())))
    for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(root, name), join(fresh, name))
    writeFileSync(join(fresh, 'licences.md'), licencesWithTexts())
    writeFileSync(join(fresh, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    writeFileSync(join(fresh, 'build.json'), `${JSON.stringify({ version, sources })}\n`)
    rmSync(target, { recursive: true, force: true })
    renameSync(fresh, target)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** Removes the texts of the sources from the source maps: a stack trace needs only their names and lines. */
function removeSourceTexts(folder: string) {
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.map'))) {
    const { sourcesContent: _, ...map } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    writeFileSync(join(folder, name), JSON.stringify(map))
  }
}

// Without await at the top: the tests load this file synchronously.
if (import.meta.main)
  void build().then(() =>
    console.log(`dist/ has version ${version}. npm start uses it until a source changes.`),
  )
