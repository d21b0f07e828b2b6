import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { App } from '../http/server.ts'

const types = { css: 'text/css', js: 'text/javascript' } as const

// The build replaces these reads by their texts, so each names its file.
const page_css = readFileSync(new URL('page.css', import.meta.url), 'utf8')
const page_js = readFileSync(new URL('page.js', import.meta.url), 'utf8')

function asset(extension: keyof typeof types, text: string) {
  const name = `page-${hash('sha256', text).slice(0, 12)}.${extension}`
  return { name, path: `/book/_/${name}`, text, type: types[extension] }
}

/** Serves the style and the script of the pages. Their names change with their content. No slug contains `_`. */
export function assetRoute(app: App): { css: string; js: string } {
  const css = asset('css', page_css)
  const js = asset('js', page_js)
  const files = new Map([css, js].map((file) => [file.name, file]))
  app.get<{ Params: { file: string } }>('/_/:file', async ({ params }, reply) => {
    const file = files.get(params.file)
    if (!file) return reply.callNotFound()
    return reply
      .headers({
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
      })
      .type(`${file.type}; charset=utf-8`)
      .send(file.text)
  })
  return { css: css.path, js: js.path }
}
