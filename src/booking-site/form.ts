import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import { badRequest } from '../errors.ts'
import { Email, OptionalText, Phone, Text } from '../http/fields.ts'
import { type App, invalidUtf8 } from '../http/server.ts'
import type { Typed } from './details.ts'

/** Makes the routes of this plugin accept forms only. CRLF, which browsers send, becomes LF. */
export function parseForms(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (_request: unknown, bytes: string | Buffer) => {
      const fields = [...new URLSearchParams(textOf(bytes as Buffer))]
      return Object.fromEntries(fields.map(([name, value]) => [name, value.replaceAll('\r\n', '\n')]))
    },
  )
}

const decoder = new TextDecoder('utf-8', { fatal: true })

// Refuse invalid UTF-8: the decoder would store a replacement character in its place.
function textOf(bytes: Buffer): string {
  const wrong = () => badRequest('The form is not valid UTF-8.')
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    throw wrong()
  }
  if (invalidUtf8(text)) throw wrong()
  return text
}

const Time = Type.Unsafe<string>({ type: 'string', format: 'date-time', minLength: 1, maxLength: 64 })
const zone = OptionalText(64)
// The duration that the form showed, in minutes.
const duration = Type.Optional(OptionalText(16))

// Ignore unknown fields: browsers and their add-ons may add some.
export const BookingForm = Type.Object({
  slot: Time,
  first_name: Text(255),
  last_name: Text(255),
  email: Type.Unsafe<string>({ ...Email(), type: 'string', minLength: 1 }),
  phone: Type.Optional(Phone()),
  message: Type.Optional(OptionalText(2000)),
  // A honeypot: visitors do not see this field, but programs fill it in.
  fax: Type.Optional(OptionalText(0)),
  token: Type.Optional(OptionalText(100)),
  zone: Type.Optional(zone),
  duration,
})

export const MoveForm = Type.Object({ slot: Time, zone: Type.Optional(zone), duration })
export const CancelForm = Type.Object({ reason: Type.Optional(OptionalText(255)), zone: Type.Optional(zone) })

const token_pattern = /^[\w-]{43}$/
export const isToken = (text: unknown): text is string => typeof text === 'string' && token_pattern.test(text)

/** The token of a form, which makes a repeated form one booking. A new token if the form has none. */
export const formToken = (sent?: unknown): string =>
  isToken(sent) ? sent : randomBytes(32).toString('base64url')

/** The texts of a form as the visitor typed them. */
export const typedOf = (body: unknown): Typed =>
  Object.fromEntries(
    Object.entries((body ?? {}) as Record<string, unknown>).filter(([, value]) => typeof value === 'string'),
  ) as Typed
