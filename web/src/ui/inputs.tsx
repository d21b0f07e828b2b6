import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/texts.ts'
import { readDay, readMoment, readTime, writeDay, writeMoment, writeTime } from './day.ts'
import { readNumber, writeNumber } from './number.ts'
import { WrittenInput, type WrittenProps } from './written-input.tsx'

/** Parses and writes the values of inputs in a locale. */
const inLocale = <V,>(
  locale: string,
  read: (text: string, locale: string) => V | null,
  write: (value: V, locale: string) => string,
) => ({ read: (text: string) => read(text, locale), write: (value: V) => write(value, locale) })

/**
 * A day (YYYY-MM-DD), typed as in the reader's locale or year first, or chosen in the browser's calendar.
 */
export function DayInput(props: WrittenProps<string>) {
  const t = useTexts()
  const { locale } = useFormats()
  const form = writeDay(t.app.day_letters, locale)
  const own = { placeholder: form, wrong: t.app.no_day(form), picker: 'date' } as const
  return <WrittenInput {...own} {...props} {...inLocale(locale, readDay, writeDay)} />
}

/** A day with a local time: YYYY-MM-DDTHH:MM. */
export function MomentInput(props: WrittenProps<string>) {
  const t = useTexts()
  const { locale } = useFormats()
  const form = `${writeDay(t.app.day_letters, locale)} ${t.app.time_letters}`
  const own = { placeholder: form, wrong: t.app.no_day(form), picker: 'datetime-local' } as const
  return <WrittenInput {...own} {...props} {...inLocale(locale, readMoment, writeMoment)} />
}

/** A time of day: HH:MM. */
export function TimeInput(props: WrittenProps<string>) {
  const t = useTexts()
  const { locale } = useFormats()
  const own = { placeholder: t.app.time_letters, wrong: t.app.no_time(t.app.time_letters) }
  return <WrittenInput {...own} {...props} {...inLocale(locale, readTime, writeTime)} />
}

/** An amount, with the sign of the workspace's currency. */
export function MoneyInput(props: WrittenProps<number>) {
  const { locale, currency } = useFormats()
  const parts = new Intl.NumberFormat(locale, { style: 'currency', currency }).formatToParts(0)
  const sign = parts.find(({ type }) => type === 'currency')?.value
  return (
    <NumberInput
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
export function NumberInput(props: WrittenProps<number>) {
  const t = useTexts()
  const { locale } = useFormats()
  const own = { inputMode: 'decimal', wrong: t.app.no_number(writeNumber(1234.5, locale)) } as const
  return <WrittenInput {...own} {...props} {...inLocale(locale, readNumber, writeNumber)} />
}
