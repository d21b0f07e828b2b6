import { useQuery } from '@tanstack/react-query'
import type { Target } from '../app/addresses.ts'
import { type Formats, useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { useAllKinds, useLabels } from '../record/kinds.ts'
import { place, type Texts, useTexts } from '../texts/texts.ts'
import { Ago } from '../ui/values.tsx'
import { Explain } from '../webhooks/explain-button.tsx'
import { Card } from './card.tsx'
import { latestEventsQuery } from './queries.ts'

type Event = { event: string; data: object; changed_fields?: string[] }
type Data = Record<string, unknown> & { id: number }

/** The latest events of the workspace, as sentences. */
export function LatestEvents() {
  const { home } = useTexts()
  const { data, error, refetch } = useQuery(latestEventsQuery)
  return (
    <Card title={home.events} area="events" waiting={!data} error={error} onRetry={refetch}>
      {data?.length === 0 && <p className="hint">{home.no_events}</p>}
      <ul>
        {data?.map((event) => (
          <li key={event.id} className="home-row">
            <Sentence event={event} />
            <span className="home-row-side">
              <Explain event_id={event.id} event={event.event} /> <Ago at={event.timestamp} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Sentence({ event }: { event: Event }) {
  const t = useTexts()
  const formats = useFormats()
  const [noun = '', verb] = event.event.split('.')
  const data = event.data as Data
  const kind = useAllKinds().find((one) => one.noun === noun)
  const own = t.home.sentences[event.event as keyof Texts['home']['sentences']]
  const usual = t.home.happened[verb as keyof Texts['home']['happened']]
  const sentence =
    own?.({ name: place }) ??
    (kind && usual?.({ one: t.kinds[kind.kind].one, name: place })) ??
    `${place}: ${event.event}`
  const [before, after] = sentence.split(place)
  // A deleted record is in the trash only.
  const target: Target | undefined =
    kind &&
    (verb === 'deleted' ? { to: '/trash', search: { kind: kind.kind } } : { to: `${kind.path}/${data.id}` })
  const name = nameOf(data)
  const more = detailOf(event, data, useLabels(kind?.kind ?? ''), t, formats)
  const title = `${before}${name ?? t.home.erased}${after}${more ? `: ${more}` : ''}`
  return (
    <span className="home-row-text" title={title}>
      {before}
      {name === null ? t.home.erased : target ? <Link {...target}>{name}</Link> : name}
      {after}
      {more && <span className="hint">: {more}</span>}
    </span>
  )
}

/** The name of the record; null if it was erased. */
function nameOf({ first_name, last_name, name, subject, title }: Data): string | null {
  if (first_name !== undefined) return first_name === null ? null : `${first_name} ${last_name}`
  return ((name ?? subject ?? title) as string | null | undefined) ?? null
}

function detailOf(
  { event, changed_fields }: Event,
  data: Data,
  labelOf: (field: string) => string,
  t: Texts,
  formats: Formats,
): string | null {
  const stages: Record<string, string> = t.deals.stages
  if (event === 'deal.stage_changed' && data.new_stage)
    return t.record.from_to({
      from: stages[String(data.previous_stage)] ?? String(data.previous_stage),
      to: stages[String(data.new_stage)] ?? String(data.new_stage),
    })
  if (event === 'deal.won' && typeof data.value === 'number') return formats.money(data.value)
  if (event === 'deal.lost' && data.lost_reason) return String(data.lost_reason)
  if (event === 'appointment.created' && data.start_at) return formats.moment(String(data.start_at))
  const fields = changed_fields?.filter((name) => name !== 'deleted_at' && !name.startsWith('_'))
  return fields?.map((name) => labelOf(name)).join(', ') || null
}
