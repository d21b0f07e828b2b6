import type { Schemas } from '../api/client.ts'
import type { Search } from '../app/addresses.ts'
import type { Formats } from '../app/intl.ts'
import type { Texts } from '../texts/with-reports.ts'
import { type Target, unlessNone, type View } from './view.ts'

type Filters = Search<'/activities'>
type People = Schemas['PeopleReport']
type Counts = { done_count: number; open_count: number; overdue_count: number }

/** The completed and open activities of each person in a period, by type. */
export function peopleView(
  report: People,
  t: Texts,
  { number }: Formats,
  owner: Filters,
  nameOf: (owner_id: string | null) => string,
): View {
  const { reports, activities } = t
  const list = (filters: Filters): Target => ({
    to: '/activities',
    search: { show: 'all', ...filters, ...(filters.owner_id === undefined && owner) },
  })
  const targetsOf = (counts: Counts, filters: Filters) => {
    const due = { due_from: report.from, due_to: report.to }
    const done = { status: 'completed', completed_at_from: report.from, completed_at_to: report.to }
    return {
      done: unlessNone(counts.done_count, list({ ...done, ...filters })),
      open: unlessNone(counts.open_count, list({ status: 'open', ...due, ...filters })),
      overdue: unlessNone(counts.overdue_count, list({ status: 'overdue', ...due, ...filters })),
    }
  }
  const said = ({ done_count, open_count, overdue_count }: Counts) =>
    [
      reports.n_done({ n: done_count }),
      reports.n_open({ n: open_count }),
      ...(overdue_count ? [reports.n_overdue({ n: overdue_count })] : []),
    ].join(' · ')
  const cellsOf = (counts: Counts, filters: Filters) => {
    const targets = targetsOf(counts, filters)
    return [
      { shown: number(counts.done_count), plain: counts.done_count, target: targets.done },
      { shown: number(counts.open_count), plain: counts.open_count, target: targets.open },
      { shown: number(counts.overdue_count), plain: counts.overdue_count, target: targets.overdue },
    ]
  }
  const text = (shown: string) => ({ shown, plain: shown })
  const all = targetsOf(report, {})
  return {
    name: 'activity-by-person',
    empty: report.done_count + report.open_count === 0,
    figures: [
      { label: activities.statuses.completed, value: number(report.done_count), target: all.done },
      { label: activities.statuses.open, value: number(report.open_count), target: all.open },
      { label: activities.statuses.overdue, value: number(report.overdue_count), target: all.overdue },
    ],
    series: [
      { key: 'done', label: activities.statuses.completed, look: 'main' },
      { key: 'open', label: reports.open_in_time, look: 'soft' },
      { key: 'overdue', label: activities.statuses.overdue, look: 'lost' },
    ],
    axis: number,
    bars: report.people.map(({ owner_id, types, ...counts }) => {
      const targets = targetsOf(counts, { owner_id: owner_id ?? 'null' })
      return {
        key: String(owner_id),
        label: nameOf(owner_id),
        ...(targets.open && !targets.done
          ? { value: reports.n_open({ n: counts.open_count }) }
          : {
              value: reports.n_done({ n: counts.done_count }),
              hint: targets.open
                ? { shown: reports.n_open({ n: counts.open_count }), target: targets.open }
                : undefined,
            }),
        target: targets.done ?? targets.open,
        parts: [
          { series: 'done', value: counts.done_count, target: targets.done },
          { series: 'open', value: counts.open_count - counts.overdue_count, target: targets.open },
          { series: 'overdue', value: counts.overdue_count, target: targets.overdue },
        ],
        lines: [
          { label: reports.all_types, value: said(counts) },
          ...types.map(({ type, ...of_type }) => ({
            label: activities.types[type],
            value: said(of_type),
          })),
        ],
      }
    }),
    columns: [
      { label: reports.person },
      { label: t.fields.type },
      ...[activities.statuses.completed, activities.statuses.open, activities.statuses.overdue].map(
        (label) => ({ label, number: true }),
      ),
    ],
    rows: report.people.flatMap(({ owner_id, types, ...counts }) => {
      const filter = { owner_id: owner_id ?? 'null' }
      return [
        {
          key: String(owner_id),
          sum: true,
          cells: [text(nameOf(owner_id)), text(reports.all_types), ...cellsOf(counts, filter)],
        },
        ...types.map(({ type, ...of_type }) => ({
          key: `${owner_id} ${type}`,
          cells: [
            text(nameOf(owner_id)),
            text(activities.types[type]),
            ...cellsOf(of_type, { ...filter, type }),
          ],
        })),
      ]
    }),
  }
}
