import { Text } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { useFormats } from '../app/formats.ts'
import './values.css'

const minute_ms = 60_000
const watchers = new Set<() => void>()
let clock: ReturnType<typeof setInterval> | undefined

/** Calls back every minute, with one timer for all components. */
function eachMinute(tell: () => void): () => void {
  watchers.add(tell)
  clock ??= setInterval(() => {
    for (const watcher of watchers) watcher()
  }, minute_ms)
  return () => {
    watchers.delete(tell)
    if (watchers.size) return
    clearInterval(clock)
    clock = undefined
  }
}
const thisMinute = () => Math.floor(Date.now() / minute_ms)

/** Draws the component again every minute. */
export const useMinute = () => useSyncExternalStore(eachMinute, thisMinute)

/** The relative time, with the exact time on hover. */
export function Ago({ at }: { at: string | null | undefined }) {
  const formats = useFormats()
  useMinute()
  if (!at) return null
  return (
    <time dateTime={at} title={formats.exact(at)}>
      {formats.relative(at)}
    </time>
  )
}

type MoneyProps = {
  value: number | null | undefined
  /** The characters that there is room for. A longer amount is rounded: a cut one would read as another amount. */
  most?: number
  /** Rounded to whole units, as beside other rounded amounts. */
  whole?: boolean
}

/** An amount in the workspace's currency, in full on hover; nothing if it is null. */
export function Money({ value, most = Number.POSITIVE_INFINITY, whole = false }: MoneyProps) {
  const formats = useFormats()
  if (value === null || value === undefined) return null
  let text = whole ? formats.sum(value) : formats.money(value)
  if (text.length > most) text = formats.sum(value)
  if (text.length > most) text = formats.shortMoney(value)
  return (
    <span className="numbers" title={formats.exactMoney(value)}>
      {text}
    </span>
  )
}

const signs = new Intl.Segmenter()
// Two characters of Latin that do not combine. The segmenter is slower.
const latin = /^[!-\u02ff](?:$|[!-\u02ff])/
/** The first grapheme of a word: an emoji may be several characters. */
const firstSign = (word = ''): string =>
  latin.test(word) ? word.charAt(0) : (signs.segment(word)[Symbol.iterator]().next().value?.segment ?? '')

/**
 * The initials of a record, in a colour derived from the name. Hidden from screen readers, because the name
 * is beside them.
 */
export function Initials({ name, square = false }: { name: string; square?: boolean }) {
  const words = name.trim().split(/\s+/)
  const initials = firstSign(words[0]) + (words.length > 1 ? firstSign(words.at(-1)) : '')
  let sum = 0
  for (const sign of name) sum += sign.codePointAt(0) ?? 0
  return (
    <span
      className="initials"
      aria-hidden
      data-square={square || undefined}
      data-initials={initials.toUpperCase()}
      style={{ '--hue': (sum * 47) % 360 } as React.CSSProperties}
    />
  )
}

type BadgeProps = { color?: 'gray' | 'red' | 'accent'; children: React.ReactNode }

/** A short text in a box, such as a choice. A plain element, because tables draw many. */
export const Badge = ({ color = 'gray', children }: BadgeProps) => (
  <span className="badge" data-color={color}>
    {children}
  </span>
)

/** A quiet note, such as that a list is empty. */
export const Soft = ({ children }: { children: React.ReactNode }) => (
  <Text size="sm" c="dimmed">
    {children}
  </Text>
)
