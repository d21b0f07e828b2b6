import { Fragment } from 'react'
import { useFormats } from '../app/formats.ts'
import { addDays, isDay } from '../app/zones.ts'
import { useTexts } from '../texts/texts.ts'
import { writeMoment } from './day.ts'
import { opOf } from './filter-draft.ts'
import type { Condition, Part } from './filter-value.ts'
import type { Filter } from './filters.tsx'
import { writeNumber } from './number.ts'
import { readRelative } from './relative-days.ts'
import { visible } from './visible.ts'

/** The words for a value such as `last_30_days`. `n` stands in the place of a number. */
export function useRelativeWords(): (text: string, n?: string) => string {
  const t = useTexts()
  const formats = useFormats()
  return (text, n) => {
    const { form, days } = readRelative(text) ?? { form: text, days: null }
    const words = t.filters.days_of
    const counted = { n: n ?? writeNumber(days ?? 0, formats.locale) }
    if (form === 'last_N_days') return words.last_N_days(counted)
    if (form === 'next_N_days') return words.next_N_days(counted)
    if (form === 'more_than_N_days_ago') return words.more_than_N_days_ago(counted)
    if (form === 'in_more_than_N_days') return words.in_more_than_N_days(counted)
    return (words as Record<string, unknown>)[form] as string
  }
}

/** The words for a value of a filter, such as `Won`, `€10,000` or `1 Dec`. */
export function useValueWords(): (filter: Filter, value: string | null) => React.ReactNode {
  const t = useTexts()
  const formats = useFormats()
  const relativeWords = useRelativeWords()
  function dayOf(day: string) {
    const this_year = day.slice(0, 4) === formats.today().slice(0, 4)
    return this_year ? formats.shortDate(day) : formats.date(day)
  }
  return ({ kind = 'text', options, show, format, relative }, value) => {
    if (value === null) return t.filters.nothing
    if (relative && readRelative(value)) return relativeWords(value)
    if (show) return show(value)
    if (options) return options.find((option) => option.value === value)?.label ?? value
    if (kind === 'number') {
      if (format === 'money') return formats.exactMoney(Number(value))
      return format === 'percent'
        ? formats.percent(Number(value) / 100)
        : writeNumber(Number(value), formats.locale)
    }
    if (kind === 'moment') return writeMoment(value, formats.locale)
    if (kind === 'text') return visible(value)
    return isDay(value) ? dayOf(value) : formats.moment(value)
  }
}

/** The sentence of a filter, such as `Stage is Lead or Won`. */
export function FilterSentence({ filter, condition }: { filter: Filter; condition: Condition | null }) {
  const { label } = filter
  return (
    <>
      <span className="chip-label">{label}</span>{' '}
      {condition ? <Words filter={filter} condition={condition} /> : '…'}
    </>
  )
}

function Words({ filter, condition }: { filter: Filter; condition: Condition }) {
  const t = useTexts()
  const wordsOf = useValueWords()
  const op = opOf(condition, filter)
  if (op === 'empty' || op === 'filled') return t.filters[op]
  if ('parts' in condition) {
    const [is, not] = [false, true].map((not) => condition.parts.filter((part) => part.not === not))
    return (
      <>
        {is?.length ? <Listed filter={filter} word={filter.word ?? t.filters.is} parts={is} /> : null}
        {is?.length && not?.length ? ` ${t.filters.and} ` : null}
        {not?.length ? <Listed filter={filter} word={t.filters.not} parts={not} /> : null}
      </>
    )
  }
  const { from, to } = condition
  const words = (value: string) => <b>{wordsOf(filter, value)}</b>
  const { at_least, at_most, from: since, to: upto, until, before } = t.filters
  const amount = filter.kind === 'number'
  if (from !== null && to !== null)
    return (
      <>
        {since} {words(from)} {upto} {words(to)}
      </>
    )
  if (from !== null)
    return (
      <>
        {amount ? at_least : since} {words(from)}
      </>
    )
  // The end of a range of days is included: until 30 November is before 1 December.
  const last = to ?? ''
  if (!amount && isDay(last))
    return (
      <>
        {before} {words(addDays(last, 1))}
      </>
    )
  return (
    <>
      {amount ? at_most : until} {words(last)}
    </>
  )
}

type ListedProps = { filter: Filter; word: string; parts: readonly Part[] }

/** `is Lead, Won or Lost`. */
function Listed({ filter, word, parts }: ListedProps) {
  const { locale } = useFormats()
  const wordsOf = useValueWords()
  const or = new Intl.ListFormat(locale, { type: 'disjunction' })
  return (
    <>
      {word}{' '}
      {or.formatToParts(parts.map((_, index) => String(index))).map(({ type, value }, index) => {
        const part = type === 'element' ? parts[Number(value)] : undefined
        // biome-ignore lint/suspicious/noArrayIndexKey: the places in a list
        return <Fragment key={index}>{part ? <b>{wordsOf(filter, part.value)}</b> : value}</Fragment>
      })}
    </>
  )
}
