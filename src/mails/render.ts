import { type Html, html } from '../http/html.ts'

/** A link. `token` is the number of the secret in its path, if it has one. */
type Link = { label: string; url: string }
type Block =
  | { text: string }
  | { link: Link }
  | { facts: [label: string, value: string][] }
  | { list: string[] }

/** A mail before it is rendered: both forms of its text come from this. */
export type Content = { subject: string; blocks: Block[] }

export type Rendered = { subject: string; text: string; html: string }

/** Stands for a secret in a stored text. No text of a record has the character. */
export const tokenMark = (number: number): string => `\ufdd0${number}`
/** Stands for the token of the link to unsubscribe. */
export const unsubscribe_mark = '\ufdd0u'
export const unsubscribe_path = '/mail/unsubscribe/'
const mark = /\ufdd0(\d|u)/g

/** A stored text with its secrets, or as the log shows it. */
export const withTokens = (
  text: string,
  tokens: readonly string[] | null,
  unsubscribe: string | null = null,
): string =>
  text.replaceAll(mark, (_, which) => (which === 'u' ? unsubscribe : tokens?.[Number(which)]) ?? '***')

const max_subject = 200
const max_text_bytes = 24 * 1024
const bidi = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** A text of a record on one line, without characters that could change how a mail is read. */
export const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(bidi, '')
    .replaceAll(/[\0-\x1f\x7f-\x9f\u2028\u2029\ufdd0-\ufdef]+/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim()

/** The beginning of a text, at most so many characters, without a half one at its end. */
function cut(text: string, max: number): string {
  const characters = [...text]
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`
}

const textOf = (block: Block): string => {
  if ('text' in block) return block.text
  if ('link' in block) return `${block.link.label}:\n${block.link.url}`
  if ('list' in block) return block.list.map((line) => `- ${line}`).join('\n')
  return block.facts.map(([label, value]) => `${label}: ${value}`).join('\n')
}

const paragraph = 'margin:0 0 16px'
const quiet = 'margin:0 0 16px;font-size:13px;opacity:.7'
const button =
  'display:inline-block;padding:10px 18px;border-radius:6px;background:#1f6feb;color:#ffffff;text-decoration:none'

const htmlOf = (block: Block): Html => {
  if ('text' in block) return html`<p style="${paragraph};white-space:pre-line">${block.text}</p>\n`
  if ('link' in block) {
    const { label, url } = block.link
    // A button is what the reader came for.
    return url.endsWith(unsubscribe_mark)
      ? html`<p style="${quiet}"><a href="${url}" style="color:inherit">${label}</a></p>\n`
      : html`<p style="${paragraph}"><a href="${url}" style="${button}">${label}</a></p>\n`
  }
  if ('list' in block)
    return html`<ul style="${paragraph}">${block.list.map((line) => html`<li>${line}</li>`)}</ul>\n`
  const rows = block.facts.map(
    ([label, value]) =>
      html`<tr><td style="padding:2px 16px 2px 0;vertical-align:top;opacity:.7">${label}</td><td style="padding:2px 0"><strong>${value}</strong></td></tr>`,
  )
  return html`<table role="presentation" style="${paragraph};border-collapse:collapse">${rows}</table>\n`
}

/** Leaves out the last blocks of a text that is too long, and says so. */
function fitting(blocks: readonly Block[], cut_note: string): Block[] {
  const kept: Block[] = []
  let bytes = 0
  for (const block of blocks) {
    bytes += Buffer.byteLength(textOf(block)) + 2
    if (bytes > max_text_bytes) return [...kept, { text: cut_note }]
    kept.push(block)
  }
  return kept
}

/** Renders a mail as plain text and as HTML with the same content. `cut_note` stands in place of what is too long. */
export function render({ subject, blocks }: Content, language: string, cut_note: string): Rendered {
  const shown = fitting(blocks, cut_note)
  const title = cut(oneLine(subject), max_subject)
  const page = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
</head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<div style="max-width:560px;margin:0 auto">
${shown.map(htmlOf)}</div>
</body>
</html>
`
  return { subject: title, text: `${shown.map(textOf).join('\n\n')}\n`, html: page.text }
}
