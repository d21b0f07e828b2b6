import { useAllKinds } from '../record/kinds.ts'
import { useLanguage, useTexts } from '../texts/texts.ts'

/** The names of all kinds in the trash and the audit log, also of those without a page. */
export function useKindNames(): Record<string, string> {
  const t = useTexts()
  const language = useLanguage()
  const of_records = useAllKinds().map(({ kind, names }) => [kind, names[language].one])
  return { ...Object.fromEntries(of_records), ...t.trash.kinds }
}
