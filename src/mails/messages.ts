import type { Content } from './render.ts'
import { mailTexts } from './texts.ts'
import { momentText, type Reader } from './when.ts'

// The texts of mails, by their kind. All of them are pure: they run in the transaction of the cause.

export function testMail(reader: Reader, now_ms: number): Content {
  const t = mailTexts(reader.language)
  return {
    subject: t.test.subject,
    blocks: [
      { text: t.test.text },
      { facts: [[t.test.sent_at, momentText(now_ms, reader)]] },
      { text: t.sent_by_service },
    ],
  }
}
