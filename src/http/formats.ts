// The texts that a format accepts, and the words for it in messages.

/** The most characters of an e-mail address. */
export const max_email_characters = 320
// Looser than RFC 5322 on purpose: one @, text on both sides, no blanks. Mail servers check the rest.
const email = /^[^\s@<>(),;:\\"[\]]+@[^\s@<>(),;:\\"[\]]+$/u
/** Whether a text is an e-mail address that may be stored. */
export const isEmail = (text: string): boolean =>
  text.length <= max_email_characters && email.test(text) && !/\.\.|^\.|\.@|@\.|\.$|@-/.test(text)

/** Whether a text is a calendar day, YYYY-MM-DD. */
export const isDay = (text: string): boolean => {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  if (!year || year === '0000') return false
  const date = new Date(`${text}T00:00:00.000Z`)
  return (
    !Number.isNaN(date.getTime()) &&
    date.getUTCDate() === Number(day) &&
    date.getUTCMonth() + 1 === Number(month)
  )
}

// RFC 3339 as Date reads it. Ajv's own format accepts texts that Date cannot read, such as a leap second.
const instant =
  /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i
/** Whether a text is a time with an offset. */
export const isInstant = (text: string): boolean => instant.test(text) && isDay(text.slice(0, 10))

/** The end of the message `FIELD must be …` for each format, with an example. */
export const formats = {
  'date-time': 'a time, such as 2026-12-31T08:30:00Z',
  email_address: 'an e-mail address, such as ana.ruiz@example.com',
  day: 'a day, such as 2026-12-31',
}
