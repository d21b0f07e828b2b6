import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import {
  convertCssVariables,
  DEFAULT_THEME,
  deepMerge,
  defaultCssVariablesResolver,
  mergeMantineTheme,
} from '@mantine/core'
import react from '@vitejs/plugin-react'
import { build, defineConfig, type Plugin } from 'vite'
import { generateTexts, readTexts, texts_folder } from '../scripts/generate-texts.ts'
import { theme } from './src/app/theme.ts'

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

/** Writes the variables of the theme into the styles: Mantine would compute them at each start, twice. */
function themeVariables(): Plugin {
  return {
    name: 'theme-variables',
    resolveId: (id) => (id === 'virtual:theme.css' ? id : undefined),
    load: {
      filter: { id: /^virtual:theme\.css$|MantineCssVariables[\\/]MantineCssVariables\.mjs$/ },
      handler(id) {
        if (id !== 'virtual:theme.css') return 'export const MantineCssVariables = () => null'
        const values = defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme))
        const [dark, light] = ['dark', 'light'].map((scheme) => ({ '--mantine-color-scheme': scheme }))
        return convertCssVariables(deepMerge(values, { variables: {}, dark, light }), ':root')
      },
    },
  }
}

/** Refuses a component of Mantine without its styles. */
function mantineStyles(): Plugin {
  return {
    name: 'mantine-styles',
    apply: 'build',
    generateBundle(_, bundle) {
      const styled = [...this.getModuleIds()].map((id) => /@mantine\/core\/styles\/(\w+)\.css/.exec(id)?.[1])
      const drawn = Object.values(bundle)
        .flatMap((one) => (one.type === 'chunk' ? Object.keys(one.modules) : []))
        .map((id) => /@mantine\/core\/.*\/(\w+)\.module\.mjs/.exec(id)?.[1])
      const missing = drawn.filter((name) => !styled.includes(name))
      if (missing.length) throw new Error(`web/src/styles.ts has no styles of ${missing.join(', ')}.`)
    },
  }
}

// What opens over a page or edits a field, and what only the settings need. It is not loaded with other pages.
const late = [
  /@floating-ui|react-remove-scroll|use-sidecar|use-callback-ref|react-style-singleton|tslib|get-nonce|autosize|@mantine[\\/](form|notifications)/,
  /@mantine[\\/]hooks[\\/].*[\\/]use-(click-outside|focus-return|focus-trap|long-press|uncontrolled)[\\/]/,
  /@mantine[\\/]core[\\/].*[\\/](Autocomplete|Checkbox|Combobox|Floating|FocusTrap|Menu|Modal|ModalBase|NativeSelect)[\\/]/,
  /@mantine[\\/]core[\\/].*[\\/](NumberInput|Overlay|Pill|PillsInput|Popover|Radio|ScrollArea|Select|Switch)[\\/]/,
  /@mantine[\\/]core[\\/].*[\\/](TagsInput|Textarea)[\\/]/,
  /web[\\/]src[\\/]ui[\\/](day|dialog|field-editor|filter-(draft|editor)|floating-parts|form-d\w+|inputs|number)\./,
  /web[\\/]src[\\/]ui[\\/](pick-list|record-form|reference|spoken-day|toast-list|written-input)\./,
  /web[\\/]src[\\/](settings|texts|webhooks)[\\/]/,
  /web[\\/]src[\\/]record[\\/]\w+[\\/](choices|create-record|defined-inputs|export|mention-input|owner-input)\./,
]
const isLate = (id: string): boolean => late.some((one) => one.test(id))

// Code that pages share. One file is smaller than ten, and loads sooner.
const of_records =
  /web[\\/]src[\\/](record[\\/](\w+[\\/])?(assign|edit-first|merges|pages)|ui[\\/](download|website))\./
const of_each_list = /web[\\/]src[\\/](record[\\/]page[\\/]may-merge|ui[\\/]website)\./
const of_filters = /web[\\/]src[\\/]ui[\\/](filter|list-view|no-matches|panel)/
const of_tables = /web[\\/]src[\\/]ui[\\/](column-drag|list-(groups|page)|table|whole-list)/
const of_views = /web[\\/]src[\\/]record[\\/]\w+[\\/](custom-lists|list-|views?\.|view-)/
const of_lists =
  /web[\\/]src[\\/](ui[\\/](bulk-bar|column-order)|record[\\/]list[\\/](bulk-|columns|groupings|record-list))/

// A page that imports it needs the texts of the settings.
const settings_module = '/src/texts/with-settings.ts'

// The pages by their paths without ids, and with their views, and their modules.
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
  '/calendar/': 'calendar/appointment-record.tsx',
  '/booking-pages': 'calendar/booking-pages.tsx',
  '/booking-pages/': 'calendar/booking-page.tsx',
  '/reports': 'reports/reports-page.tsx',
  '/notifications': 'notifications/notifications-page.tsx',
  '/trash': 'trash/trash-page.tsx',
  '/audit-log': 'trash/audit-page.tsx',
  '/settings': 'settings/settings-page.tsx',
  '/settings/profile': 'settings/profile-page.tsx',
  '/settings/workspace': 'settings/workspace-page.tsx',
  '/settings/members': 'settings/members-page.tsx',
  '/settings/imports': 'imports/imports-page.tsx',
  '/settings/imports/new': 'imports/new-import-page.tsx',
  '/settings/imports/': 'imports/import-page.tsx',
  '/settings/fields': 'settings/fields-page.tsx',
  '/settings/stages': 'settings/stages-page.tsx',
  '/settings/keys': 'settings/keys-page.tsx',
  '/settings/webhooks': 'webhooks/webhooks-page.tsx',
  '/settings/webhooks/': 'webhooks/webhook-page.tsx',
  '/settings/deliveries': 'webhooks/deliveries-page.tsx',
  '/settings/deliveries/': 'webhooks/delivery-page.tsx',
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
        // Each name once: the document is not compressed.
        const names: string[] = []
        const places = pages.flatMap(({ path, chunk }) => {
          const files = [...withImports(chunk?.fileName ?? '')].filter((name) => !known.has(name))
          names.push(...files.filter((name) => !names.includes(name)))
          return chunk ? [[path, files.map((name) => names.indexOf(name))]] : []
        })
        const fileOf = (module: string) =>
          chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/src/texts/generated/${module}.ts`))
        const textsOf = (language: string) =>
          ['first-texts', 'settings-texts'].flatMap((part) => {
            const name = fileOf(`${language}/${part}`)?.fileName
            return name ? [names.push(name) - 1] : []
          })
        const languages = Object.keys(readTexts())
        const texts = Object.fromEntries(languages.map((language) => [language, textsOf(language)]))
        const needsSettings = (name: string) => {
          const chunk = bundle[name]
          return chunk?.type === 'chunk' && chunk.moduleIds.some((id) => id.endsWith(settings_module))
        }
        const of_settings = pages.flatMap(({ path, chunk }) =>
          [...withImports(chunk?.fileName ?? '')].some(needsSettings) ? [path] : [],
        )
        const first = {
          texts,
          of_settings,
          files: names.map((name) => name.replace(/^assets\/|\.js$/g, '')),
          pages: Object.fromEntries(places),
        }
        const styles = html.match(/ *<link rel="stylesheet"[^>]*>\n/g) ?? []
        const without = styles.reduce((text, link) => text.replace(link, ''), html)
        return without
          .replace('/* first pages */ {}', JSON.stringify(first))
          .replace('    <div id="app">', (app) => `${styles.join('')}${app}`)
      },
    },
  }
}

// The pages without a session, which share nothing with the app but its sources.
const open_page = 'open.html'
const open_paths = /^\/(sign-in|setup|invitation|reset)(?=[/?#]|$)/

/** Builds the document of these pages by itself, so that the chunks of the app do not depend on it. */
function openPages(): Plugin {
  return {
    name: 'open-pages',
    configureServer({ middlewares }) {
      middlewares.use((request, _, next) => {
        if (open_paths.test(request.url ?? '')) request.url = `/${open_page}`
        next()
      })
    },
    async generateBundle(_, bundle) {
      const entry = Object.values(bundle).find((one) => one.type === 'chunk' && one.isEntry)
      if (entry?.type !== 'chunk' || entry.facadeModuleId?.endsWith(open_page)) return
      const names = [entry.fileName, ...entry.imports].map((name) => name.replace(/^assets\/|\.js$/g, ''))
      const built = await build({
        configFile: false,
        root: this.environment.config.root,
        publicDir: false,
        logLevel: 'warn',
        build: {
          ...shared_build,
          write: false,
          rolldownOptions: { input: resolve(this.environment.config.root, open_page) },
        },
      })
      for (const { output } of [built].flat() as { output: (typeof bundle)[string][] }[])
        for (const one of output) {
          const source = one.type === 'chunk' ? one.code : one.source
          const is_page = one.fileName === open_page
          this.emitFile({
            type: 'asset',
            fileName: one.fileName,
            source: is_page
              ? String(source).replace('[/* files of the app */]', JSON.stringify(names))
              : source,
          })
        }
    },
  }
}

const shared_build = {
  target: 'es2023',
  // Small files stay files: the content policy allows no data: in scripts and styles.
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
  // One file of styles, which has come before a page is drawn. A page whose own file is late would jump.
  cssCodeSplit: false,
}

export default defineConfig({
  // React has what this package adds to older ones.
  resolve: { alias: [{ find: /^use-sync-external-store\/shim$/, replacement: 'react' }] },
  plugins: [
    texts(),
    react(),
    smallIcons(),
    themeVariables(),
    mantineStyles(),
    compress(),
    firstPages(),
    openPages(),
  ],
  build: {
    ...shared_build,
    // `npm start` chooses a folder per version; an image has this one.
    outDir: 'dist/built',
    // The first load is one chunk, and what most pages share is another one. Otherwise a page would load about sixty
    // files of a kilobyte each.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', tags: ['$initial'], priority: 1 },
            // Each list needs them, and not all that records share.
            { name: 'small', test: of_each_list, priority: 1 },
            { name: 'shared', test: (id) => !isLate(id), minShareCount: 15 },
            { name: 'icons', test: /@primer[\\/]octicons/, minShareCount: 8 },
            { name: 'records', test: of_records, minShareCount: 5 },
            { name: 'filters', test: of_filters, minShareCount: 4 },
            { name: 'tables', test: of_tables, minShareCount: 4 },
            { name: 'views', test: of_views, minShareCount: 4 },
            { name: 'lists', test: of_lists, minShareCount: 3 },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 1000,
  },
  // For `npm run dev`, beside a running service.
  server: { proxy: { '/api': 'http://127.0.0.1:3000', '/book': 'http://127.0.0.1:3000' } },
})
