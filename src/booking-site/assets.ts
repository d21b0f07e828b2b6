import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { App } from '../http/server.ts'

const types = { css: 'text/css', js: 'text/javascript' } as const

function asset(extension: keyof typeof types) {
  const text = readFileSync(new URL(`./page.${extension}`, import.meta.url), 'utf8')
  const name = `page-${hash('sha256', text).slice(0, 12)}.${extension}`
  return { name, path: `/book/_/${name}`, text, type: types[extension] }
}

/** Serves the style and the script of the pages. Their names change with their content. No slug contains `_`. */
export function assetRoute(app: App): { css: string; js: string } {
  const css = asset('css')
  const js = asset('js')
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
