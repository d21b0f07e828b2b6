import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/texts.ts'
import { readDay, readMoment, readTime, writeDay, writeMoment, writeTime } from './day.ts'
import { readAmount, readNumber, writeNumber } from './number.ts'
import { readSpokenDay, readSpokenMoment } from './spoken-day.ts'
import { WrittenInput, type WrittenProps } from './written-input.tsx'

/** Parses and writes the values of inputs in a locale. */
const inLocale = <V,>(
  locale: string,
  read: (text: string, locale: string) => V | null,
  write: (value: V, locale: string) => string,
) => ({ read: (text: string) => read(text, locale), write: (value: V) => write(value, locale) })

/** Parses a typed day, as in the reader's locale, year first or in words. Null if there is none. */
export function useReadDay(): (text: string) => string | null {
  const { locale, today } = useFormats()
  return (text) => readDay(text, locale) ?? readSpokenDay(text, today())
}

/**
 * A day (YYYY-MM-DD), typed as in the reader's locale, year first or in words, or chosen in the browser's
 * calendar.
 */
export function DayInput(props: WrittenProps<string>) {
  const t = useTexts()
  const { locale } = useFormats()
  const read = useReadDay()
  const form = writeDay(t.app.day_letters, locale)
  const own = { placeholder: form, wrong: t.app.no_day({ form }), picker: 'date' } as const
  return <WrittenInput {...own} {...props} {...inLocale(locale, read, writeDay)} />
}

// The time of a day that is typed without one.
const usual_time = '09:00'

/** A day with a local time: YYYY-MM-DDTHH:MM. A day in words keeps the time that was there. */
export function MomentInput(props: WrittenProps<string>) {
  const t = useTexts()
  const { locale, today } = useFormats()
  const time = props.value?.split('T')[1] ?? usual_time
  const read = (text: string) => readMoment(text, locale) ?? readSpokenMoment(text, today(), time)
  const form = `${writeDay(t.app.day_letters, locale)} ${t.app.time_letters}`
  const own = { placeholder: form, wrong: t.app.no_day({ form }), picker: 'datetime-local' } as const
  return <WrittenInput {...own} {...props} {...inLocale(locale, read, writeMoment)} />
}

/** A time of day: HH:MM. */
export function TimeInput(props: WrittenProps<string>) {
  const t = useTexts()
  const { locale } = useFormats()
  const own = { placeholder: t.app.time_letters, wrong: t.app.no_time({ form: t.app.time_letters }) }
  return <WrittenInput {...own} {...props} {...inLocale(locale, readTime, writeTime)} />
}

/** An amount, with the sign of the workspace's currency. */
export function MoneyInput(props: WrittenProps<number>) {
  const { locale, currency } = useFormats()
  const parts = new Intl.NumberFormat(locale, { style: 'currency', currency }).formatToParts(0)
  const sign = parts.find(({ type }) => type === 'currency')?.value
  const own = { read: (text: string) => readAmount(text, locale, currency) } as const
  return (
    <NumberInput
      {...own}
      leftSection={
        <span className="soft" aria-hidden>
          {sign}
        </span>
      }
      {...props}
    />
  )
}

/** A number, with the separators of the reader's locale. */
export function NumberInput(props: WrittenProps<number> & { read?: (text: string) => number | null }) {
  const t = useTexts()
  const { locale } = useFormats()
  const own = { inputMode: 'decimal', wrong: t.app.no_number({ form: writeNumber(1234.5, locale) }) } as const
  return <WrittenInput {...own} {...inLocale(locale, readNumber, writeNumber)} {...props} />
}
