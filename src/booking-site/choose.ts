import type { Slot } from '../resources/booking-pages/availability.ts'
import type { BookingPage } from '../resources/booking-pages/schema.ts'
import type { Search } from '../resources/booking-pages/slots.ts'
import { zoneNames } from '../zones/names.ts'
import {
  type Day,
  dayOf,
  daysBefore,
  daysOf,
  endOfDay,
  labelled,
  type Month,
  monthOf,
  offsetOf,
  type Reader,
  readMonth,
  weekOf,
  zoneName,
} from './days.ts'
import { type Html, html } from './html.ts'
import { textsOf } from './texts.ts'

/** Reads the free times. */
export type Offers = {
  /** The free times that start in a window. */
  within(window: { from_ms: number; to_ms: number }): Promise<Slot[]>
  /** The first free time from a time on. */
  first(from_ms: number): Promise<Search>
}

/** The query of a chooser, unchecked. */
export type ChooserQuery = { month?: string | undefined; day?: string | undefined }

/** A month with its free times, and the selected day of it. */
export type Choices = {
  month: Month
  days: Day[]
  /** YYYY-MM-DD. */
  today: string
  selected: Day | null
  previous: string | null
  next: string | null
  /** A month with free times, if this month has none. `known` is false if the search stopped before that month. */
  elsewhere: { month: string; known: boolean } | null
}

/** Reads a month of free times, by default the month of the first one. Null if no day has a free time. */
export async function readChoices(
  offers: Offers,
  reader: Reader,
  asked: ChooserQuery,
  { now_ms, page }: { now_ms: number; page: Pick<BookingPage, 'horizon_days' | 'time_zone'> },
): Promise<Choices | null> {
  const wanted = asked.day?.slice(0, 7) ?? asked.month ?? ''
  const earliest = monthOf(now_ms, reader)
  // The last day is in the page's zone. In the reader's zone it may end in the next month.
  const latest = monthOf(endOfDay(now_ms, page.time_zone, page.horizon_days) - 1, reader)
  const known = /^\d{4}-(0[1-9]|1[0-2])$/.test(wanted) && wanted >= earliest && wanted <= latest
  // Search for the first free time only if no month is asked for: with many appointments a search is slow.
  const first = known ? null : await monthWithTimes(now_ms)
  if (!known && !first) return null
  const month = readMonth(first?.month ?? wanted, reader)
  const slots = await offers.within(month)
  const elsewhere = slots.length ? null : ((await monthWithTimes(month.to_ms)) ?? (await before(month.month)))
  if (!slots.length && !elsewhere) return null
  const days = daysOf(month.month, slots, reader)
  const free = days.find((day) => day.slots.length > 0) ?? null
  const selected = days.find(({ date }) => date === asked.day) ?? free
  return {
    month,
    days,
    today: dayOf(now_ms, reader),
    selected,
    elsewhere,
    previous: month.month > earliest ? monthOf(month.from_ms, reader, -1) : null,
    next: month.month < latest ? monthOf(month.from_ms, reader, 1) : null,
  }

  async function before(month: string) {
    const found = await monthWithTimes(now_ms)
    return found && found.month < month ? found : null
  }
  async function monthWithTimes(from_ms: number) {
    const { slots, looked_until_ms } = await offers.first(from_ms)
    const at_ms = slots[0] ? Date.parse(slots[0].start_at) : looked_until_ms
    return at_ms === null ? null : { month: monthOf(at_ms, reader), known: slots.length > 0 }
  }
}

/** The calendar of a month, the times of a day, and the choice of the time zone. `path` is the path of the page. */
export function chooser(
  path: string,
  choices: Choices | null,
  reader: Reader,
  own_zone: string,
  duration?: string,
): Html {
  const t = textsOf(reader)
  if (!choices) return html`<p class="empty">${t.none_free}</p>`
  const { month, days, today, selected } = choices
  const week = weekOf(reader.locale)
  const names = week.map((day) => Object.values(t.weekdays)[day - 1] ?? '')
  const kept = duration && html`<input type="hidden" name="duration" value="${duration}">`
  return html`${zoneForm(path, choices, reader, own_zone, kept)}
<div class="choices">
<section class="calendar" aria-labelledby="month">
<div class="months">
<h2 id="month">${month.name}</h2>
${step('previous', choices.previous)}
${step('next', choices.next)}
</div>
<table>
<thead><tr>${names.map((name) => html`<th scope="col"><abbr title="${name}">${name.slice(0, 2)}</abbr></th>`)}</tr></thead>
<tbody>${weeks()}</tbody>
</table>
</section>
<section class="times" aria-labelledby="day">
${selected ? timesOf(selected) : nothing()}
</section>
</div>`

  function link(query: Record<string, string>) {
    return `${path}?${new URLSearchParams({ ...query, zone: reader.zone, ...(duration && { duration }) })}`
  }

  function step(name: 'previous' | 'next', to: string | null) {
    const sign = name === 'previous' ? '‹' : '›'
    if (to === null) return html`<span class="step" aria-hidden="true">${sign}</span>`
    const label = name === 'previous' ? t.previous_month : t.next_month
    return html`<a class="step" id="${name}" data-swap href="${link({ month: to })}" aria-label="${label}">${sign}</a>`
  }

  function weeks() {
    const before = daysBefore(month.month, week)
    const cells: (Day | null)[] = [...Array.from({ length: before }, () => null), ...days]
    while (cells.length % 7) cells.push(null)
    const rows = Array.from({ length: cells.length / 7 }, (_, n) => cells.slice(n * 7, n * 7 + 7))
    // Past weeks would push the times off a phone's screen.
    const ahead = rows.filter((row) => row.some((day) => day && day.date >= today))
    return ahead.map((row) => html`<tr>${row.map((day) => html`<td>${day && cell(day)}</td>`)}</tr>`)
  }

  function cell({ date, number, name, slots }: Day) {
    const current = date === selected?.date && html` aria-current="true"`
    if (!slots.length) return html`<span${current}>${number}</span>`
    const label = `${name}, ${t.times({ n: slots.length })}`
    return html`<a id="d${number}" data-swap="day" href="${link({ day: date })}" aria-label="${label}"${current}>${number}</a>`
  }

  function timesOf({ name, slots }: Day) {
    return html`<h2 id="day" tabindex="-1">${name}</h2>
${
  slots.length
    ? html`<form action="${path}"><input type="hidden" name="zone" value="${reader.zone}">${kept}
<ul class="slots">${labelled(slots, reader).map(({ start_at, label }) => html`<li><button name="slot" value="${start_at}">${label}</button>`)}</ul></form>`
    : html`<p class="empty">${t.none_on_day}</p>`
}`
  }

  function nothing() {
    const { elsewhere } = choices as Choices
    return html`<h2 id="day" tabindex="-1">${t.none_in({ month: month.name })}</h2>${
      elsewhere &&
      html`<p><a class="button" data-swap="day" href="${link({ month: elsewhere.month })}">${elsewhere.known ? t.show_next : t.look_further}</a></p>`
    }`
  }
}

// The list of zones is most of a page's bytes, so it is made once.
let all_zones: Html | undefined
const allZones = (): Html => {
  all_zones ??= html`${zoneNames().map((zone) =>
    zone.includes('_') ? html`<option value="${zone}">${zoneName(zone)}` : html`<option>${zone}`,
  )}`
  return all_zones
}

// The form needs the button: with a keyboard, a closed list changes with each key.
function zoneForm(
  path: string,
  { selected, month }: Choices,
  reader: Reader,
  own_zone: string,
  kept: Html | undefined | '',
): Html {
  const t = textsOf(reader)
  const at = Date.parse(selected?.slots[0]?.start_at ?? new Date(month.from_ms).toISOString())
  const choice = (zone: string) =>
    html`<option value="${zone}"${zone === reader.zone && html` selected`}>${zoneName(zone)} (${offsetOf(at, { ...reader, zone })})</option>`
  return html`<form class="zone" action="${path}">
<label for="zone">${t.shown_in}</label>
<select id="zone" name="zone">${[...new Set([reader.zone, own_zone])].map(choice)}<optgroup label="${t.all_zones}">${allZones()}</optgroup></select>
${selected ? html`<input type="hidden" name="day" value="${selected.date}">` : html`<input type="hidden" name="month" value="${month.month}">`}${kept}
<button id="change">${t.change}</button>
</form>`
}
