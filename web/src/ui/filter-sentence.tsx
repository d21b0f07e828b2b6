import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/texts.ts'
import { writeDay, writeMoment } from './day.ts'
import { readFilter } from './filter-value.ts'
import type { Filter } from './filters.tsx'
import { writeNumber } from './number.ts'

/** What a filter says, such as `Stage is lead or won`. */
export function FilterSentence({ filter, value }: { filter: Filter; value: string }) {
  const { label, show } = filter
  const sayValues = useSaidValues()
  const t = useTexts()
  if (show)
    return (
      <>
        {label} {t.filters.is} {show(value)}
      </>
    )
  return `${label} ${sayValues(filter, value)}`
}

/** The words after the label: `is lead or won`, `10,000`. */
function useSaidValues() {
  const t = useTexts()
  const { locale } = useFormats()
  const or = new Intl.ListFormat(locale, { type: 'disjunction' })
  return ({ kind, options, many }: Filter, value: string): string => {
    const nameOf = (one: string) => options?.find((option) => option.value === one)?.label ?? one
    if (many) {
      const { op, values } = readFilter(value)
      return [t.filters[op], or.format(values.map(nameOf))].filter(Boolean).join(' ')
    }
    if (kind === 'date') return writeDay(value, locale)
    if (kind === 'moment') return writeMoment(value, locale)
    if (kind === 'number') return writeNumber(Number(value), locale)
    return `${t.filters.is} ${nameOf(value)}`
  }
}
