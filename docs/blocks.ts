import { globSync, readFileSync } from 'node:fs'

const folder = new URL('.', import.meta.url)

/** A block of code of a page. */
export type Block = { page: string; code: string }

/** All blocks of a language, in the order of the pages. */
export const blocksIn = (language: string): Block[] =>
  globSync('*.md', { cwd: folder })
    .sort()
    .flatMap((page) => {
      const text = readFileSync(new URL(page, folder), 'utf8')
      const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))
      return [...blocks].map(([, code = '']) => ({ page, code }))
    })
