import type { Schemas } from '../api/client.ts'
import { Link } from '../app/link.ts'
import { useAllKinds } from '../record/kinds.ts'
import { useTexts } from '../texts/with-settings.ts'
import { visible } from '../ui/visible.ts'

type Of = Pick<Schemas['Delivery'], 'event' | 'kind' | 'record_id' | 'title'>

type Props = { of: Of; className?: string }

/** The record that the event of a delivery is about, with a link to its page. Nothing for a ping. */
export function RecordOfEvent({ of: { event, kind, record_id, title }, className }: Props) {
  const t = useTexts()
  const known = useAllKinds().find((one) => one.kind === kind)
  if (!known || record_id === null) return null
  // In the list, a record without a title is in the trash or was removed.
  const has_page = title !== null && !event.endsWith('.deleted')
  const name = visible(title ?? String(record_id))
  return (
    <>
      <span className="soft">{t.kinds[known.kind].one}</span>{' '}
      {has_page ? (
        <Link to={`${known.path}/${record_id}`} className={className}>
          {name}
        </Link>
      ) : (
        name
      )}
    </>
  )
}
