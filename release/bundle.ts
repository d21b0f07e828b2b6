import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type OutputOptions, type Plugin, rolldown } from 'rolldown'
import { root } from './root.ts'

// Packages and modules that a release replaces.
const packages = ['undici', 'yaml']
const replaced: Record<string, string> = {
  [join(root, 'src/web/open.ts')]: join(root, 'release/program/open.ts'),
  [join(root, 'src/http/openapi/scalar.ts')]: join(root, 'release/program/scalar.ts'),
  [join(root, 'src/busy/thread-code.ts')]: join(root, 'release/program/thread-code.ts'),
}

const replaceModules: Plugin = {
  name: 'replace-modules',
  resolveId(name, importer) {
    if (packages.includes(name)) return join(root, `release/program/${name}.ts`)
    return importer && name.startsWith('.') ? replaced[join(dirname(importer), name)] : undefined
  },
}

const http = '\0http.cjs'

/** An import of node:http as a module reads all its properties. One of them loads the undici of Node: 50 ms of a start. */
const requireHttp: Plugin = {
  name: 'require-http',
  resolveId: (name) => (name === 'node:http' ? http : undefined),
  load: (id) => (id === http ? "module.exports = process.getBuiltinModule('node:http')" : undefined),
}

// Fastify asks for both, and uses neither for a server that speaks HTTP/1.1 without TLS.
const loaded_late = ['node:https', 'node:http2']

/** Loads these modules of Node when Fastify calls them: 8 MiB of memory, and 25 ms of a start. */
const callLate: Plugin = {
  name: 'call-late',
  resolveId: (name, importer) =>
    loaded_late.includes(name) && importer?.includes('/node_modules/fastify/') ? `\0${name}.cjs` : undefined,
  load(id) {
    const name = loaded_late.find((one) => id === `\0${one}.cjs`)
    return (
      name && `module.exports = new Proxy({}, { get: (_, key) => process.getBuiltinModule('${name}')[key] })`
    )
  },
}

const read_text = /readFileSync\(\s*new URL\('([^']+)', import\.meta\.url\),\s*'utf8',?\s*\)/g

/** Replaces the reads of files beside the sources by their texts. */
const inlineTexts: Plugin = {
  name: 'inline-texts',
  transform(code, id) {
    if (!/^(src|demo)\//.test(relative(root, id)) || !code.includes('import.meta.url')) return
    // Each text takes the lines of its read, so the source map stays right.
    const inlined = code.replaceAll(
      read_text,
      (read, name) =>
        JSON.stringify(readFileSync(join(dirname(id), name), 'utf8')) +
        '\n'.repeat(read.split('\n').length - 1),
    )
    if (inlined.includes('import.meta.url'))
      throw new Error(`${relative(root, id)} reads a file in a way that release/bundle.ts cannot inline.`)
    return { code: inlined, map: null }
  },
}

/** The minifier escapes the characters of strings, but leaves those of tagged templates as they are. */
const escapeTexts: Plugin = {
  name: 'escape-texts',
  transform(code, id) {
    if (!/^(src|demo)\//.test(relative(root, id))) return
    const escaped = code.replaceAll(/[^\0-\x7f]/g, (unit) => {
      return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
    })
    return { code: escaped, map: null }
  },
}

/** Bundles a program with its packages. Parts that are loaded later are files of their own, if the output has a folder. */
export async function bundle(input: Record<string, string>, output: OutputOptions): Promise<void> {
  const built = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    // An optional part of pg, which is not installed.
    external: ['pg-native'],
    plugins: [replaceModules, requireHttp, callLate, inlineTexts, escapeTexts],
    logLevel: 'warn',
  })
  // V8 keeps a source in two bytes for each character if one of them is beyond ASCII. licences.md has the licences.
  const ascii = { charset: 'ascii', comments: { legal: false } } as const
  await built.write({ minify: true, keepNames: true, ...ascii, ...output })
  await built.close()
}
