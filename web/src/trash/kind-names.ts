import { useAllKinds } from '../record/kinds.ts'
import { useLanguage, useTexts } from '../texts/texts.ts'

/** What the kinds of records of the trash and the audit log are called; some of them have no page. */
export function useKindNames(): Record<string, string> {
  const t = useTexts()
  const language = useLanguage()
  const of_records = useAllKinds().map(({ kind, names }) => [kind, names[language].one])
  return { ...Object.fromEntries(of_records), ...t.trash.kinds }
}
