import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const compressed = /\.(js|css|svg|woff2?)$/

/** Writes each asset in compressed form too, once per build. */
function compress(): Plugin {
  let folder = ''
  return {
    name: 'compress-assets',
    apply: 'build',
    configResolved: ({ root, build }) => {
      folder = resolve(root, build.outDir, build.assetsDir)
    },
    // After a complete build only.
    async writeBundle() {
      const names = readdirSync(folder).filter((name) => compressed.test(name))
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
      await Promise.all(
        names.map(async (name) => {
          const bytes = readFileSync(resolve(folder, name))
          writeFileSync(resolve(folder, `${name}.br`), await promisify(brotliCompress)(bytes, { params }))
          writeFileSync(resolve(folder, `${name}.gz`), await promisify(gzip)(bytes, { level: 9 }))
        }),
      )
    },
  }
}

/** Keeps the drawings of an icon up to 16 px: larger ones, which nothing shows, are more than half of its bytes. */
function smallIcons(): Plugin {
  const larger = /\n\t"(?:2[0-9]|[3-9][0-9])": \{\n[\s\S]*?\n\t\},?/g
  return {
    name: 'small-icons',
    transform: {
      filter: { id: /@primer\/octicons-react\/dist\/icons\/\w+\.mjs$/ },
      handler: (code) =>
        code.includes('"16": {')
          ? code.replace(larger, '').replace(/,\s*"(?:2[0-9]|[3-9][0-9])"(?=[\s,\]])/g, '')
          : undefined,
    },
  }
}

export default defineConfig({
  plugins: [react(), smallIcons(), compress()],
  build: {
    target: 'es2023',
    // `npm start` chooses a folder per version; an image has this one.
    outDir: 'dist/built',
    // Small files stay files: the content policy allows no data: in scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Code that several pages share is one chunk. Otherwise a page would load about sixty files of a
    // kilobyte each.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 14 }] } } },
    chunkSizeWarningLimit: 1000,
  },
  // For `npm run dev`, beside a running service.
  server: { proxy: { '/api': 'http://127.0.0.1:3000', '/book': 'http://127.0.0.1:3000' } },
})
