import { useTexts } from '../texts/with-trash.ts'

/** The names of all kinds in the trash and the audit log, also of those without a page. */
export function useKindNames(): Record<string, string> {
  const t = useTexts()
  const of_records = Object.entries(t.kinds).map(([kind, { one }]) => [kind, one])
  return { ...Object.fromEntries(of_records), ...t.trash.kinds }
}

/** The same names within a sentence. */
export function useKindsInSentence(): Record<string, string> {
  const t = useTexts()
  const of_records = Object.entries(t.kinds).map(([kind, { in_sentence }]) => [kind, in_sentence.one])
  return { ...Object.fromEntries(of_records), ...t.trash.kinds_in_sentence }
}
