import { type Html, html } from '../http/html.ts'

export { type Html, html }

/** The paragraphs of a plain text. The style keeps its line breaks. */
export const paragraphs = (text: string): Html[] =>
  text
    .split(/\n{2,}/)
    .filter((part) => part.trim())
    .map((part) => html`<p class="text" dir="auto">${part.trim()}</p>`)

export type Screen = {
  status?: number
  title: string
  body: Html
  /** The time zone of the page, if the page can also show another one. */
  zone?: string
  /** The origins that may show the page in a frame, besides the own one. */
  origins?: readonly string[]
}

/** The answer of a page, for the declaration of its route. */
export const HtmlPage = { description: 'A page.', content: { 'text/html': { schema: { type: 'string' } } } }

/** A whole page. */
export const documentOf = (
  { title, body, zone }: Screen,
  lang: string,
  assets: { css: string; js: string | null },
): string =>
  html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets.css}">
${assets.js && html`<script src="${assets.js}" defer></script>`}
<title>${title}</title>
</head>
<body>
<main${zone !== undefined && html` data-zone="${zone}"`}>
${body}
</main>
<p id="said" class="unseen" role="status"></p>
</body>
</html>
`.text

// The pages load files of this server only, without inline scripts or styles. The web app shows a preview in a frame.
const policy = (origins: readonly string[]) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${["'self'", ...origins].join(' ')}`,
  ].join('; ')

/** For all answers below /book except the assets. No cache or referrer may have the forms and private links. */
export const headersFor = (origins: readonly string[] = []) => ({
  'content-security-policy': policy(origins),
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
})
export const page_headers = headersFor()
