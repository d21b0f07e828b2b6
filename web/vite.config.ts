import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { generateTexts, texts_folder } from '../scripts/generate-texts.ts'

const compressed = /\.(js|css|svg|woff2?)$/

/** Compiles the texts before a build, and again when one changes beside `npm run dev`. */
function texts(): Plugin {
  return {
    name: 'texts',
    buildStart: generateTexts,
    configureServer({ watcher }) {
      watcher.add(texts_folder)
      watcher.on(
        'change',
        (path) => path.startsWith(texts_folder) && path.endsWith('.json') && generateTexts(),
      )
    },
  }
}

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

// What opens over a page or edits a field, and what only the settings need. It is not loaded with other pages.
const late = [
  /@floating-ui|react-remove-scroll|autosize|@mantine[\\/](form|notifications)/,
  /@mantine[\\/]core[\\/].*[\\/](Autocomplete|Combobox|Floating|FocusTrap|Menu|Modal|ModalBase|NativeSelect)[\\/]/,
  /@mantine[\\/]core[\\/].*[\\/](NumberInput|Overlay|Pill|PillsInput|Popover|Radio|ScrollArea|Select|Switch)[\\/]/,
  /@mantine[\\/]core[\\/].*[\\/](TagsInput|Textarea)[\\/]/,
  /web[\\/]src[\\/]ui[\\/](day|field-editor|filter-(draft|editor)|floating-parts|form-d\w+|inputs|number)\./,
  /web[\\/]src[\\/]ui[\\/](pick-list|record-form|reference|spoken-day|toast-list|written-input)\./,
  /web[\\/]src[\\/](settings|texts)[\\/]/,
  /web[\\/]src[\\/]record[\\/](choices|create-record|defined-inputs|export|mention-input|owner-input)\./,
]
const isLate = (id: string): boolean => late.some((one) => one.test(id))

// The pages that most visits begin with, by their paths without ids, and with their views, and their modules.
const first_pages = {
  '/': 'home/home-page.tsx',
  '/contacts': 'contacts/contacts-page.tsx',
  '/contacts/': 'contacts/contact-record.tsx',
  '/companies': 'companies/companies-page.tsx',
  '/companies/': 'companies/company-record.tsx',
  '/deals': 'deals/board-page.tsx',
  '/deals?view=table': 'deals/deals-table.tsx',
  '/deals/': 'deals/deal-record.tsx',
  '/activities': 'activities/activities-page.tsx',
  '/activities/': 'activities/activity-record.tsx',
  '/calendar': 'calendar/calendar-page.tsx',
  '/reports': 'reports/reports-page.tsx',
}

/**
 * Lets the browser load the chunks of the first page beside those of the app, and paint the shell before the styles of the
 * app are there: their links come after it.
 */
function firstPages(): Plugin {
  return {
    name: 'first-pages',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((one) => one.type === 'chunk')
        const withImports = (name: string, found = new Set<string>()): Set<string> => {
          const chunk = bundle[name]
          if (found.has(name) || chunk?.type !== 'chunk') return found
          found.add(name)
          for (const each of chunk.imports) withImports(each, found)
          return found
        }
        const entry = chunks.find(({ isEntry }) => isEntry)
        const known = withImports(entry?.fileName ?? '')
        const pages = Object.entries(first_pages).map(([path, module]) => {
          const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/src/${module}`))
          return { path, module, chunk }
        })
        // A name here may be wrong, unless the app has none of the pages.
        const missing = pages.filter(({ chunk }) => !chunk)
        if (missing.length > 0 && missing.length < pages.length)
          throw new Error(`No chunk begins with ${missing.map(({ module }) => module).join(', ')}.`)
        const files = pages.flatMap(({ path, chunk }) =>
          chunk ? [[path, [...withImports(chunk.fileName)].filter((name) => !known.has(name))]] : [],
        )
        const styles = html.match(/ *<link rel="stylesheet"[^>]*>\n/g) ?? []
        const without = styles.reduce((text, link) => text.replace(link, ''), html)
        return without
          .replace('/* first pages */ {}', JSON.stringify(Object.fromEntries(files)))
          .replace('    <div id="app">', (app) => `${styles.join('')}${app}`)
      },
    },
  }
}

export default defineConfig({
  plugins: [texts(), react(), smallIcons(), compress(), firstPages()],
  build: {
    target: 'es2023',
    // `npm start` chooses a folder per version; an image has this one.
    outDir: 'dist/built',
    // Small files stay files: the content policy allows no data: in scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The first load is one chunk, and what most pages share is another one. Otherwise a page would load about sixty
    // files of a kilobyte each.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', tags: ['$initial'], priority: 1 },
            { name: 'shared', test: (id) => !isLate(id), minShareCount: 14 },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 1000,
  },
  // For `npm run dev`, beside a running service.
  server: { proxy: { '/api': 'http://127.0.0.1:3000', '/book': 'http://127.0.0.1:3000' } },
})
