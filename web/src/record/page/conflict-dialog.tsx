import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Conflict } from '../../api/change-since.ts'
import type { Schemas } from '../../api/client.ts'
import { type RecordKind, recordApi } from '../../api/record-api.ts'
import { useTexts } from '../../texts/with-trash.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { useChangedMeanwhile, useFieldLabels, useReadable } from '../fields/changes.tsx'
import { RecordName } from '../fields/linked.tsx'
import { type AnyRecord, type Kind, useAllKinds, useKind } from '../kinds.ts'
import type { Authored } from './authors.tsx'
import { type Question, useQuestion } from './conflicts.ts'
import './conflict-dialog.css'

type Actor = Schemas['Actor']
type Fields = Record<string, unknown>

/** Asks whose values stay when somebody else has changed the same fields meanwhile. */
export function ConflictDialog(_: { onClose: () => void }) {
  const question = useQuestion()
  return question ? <Asked {...question} /> : null
}

function Asked({ kind, record, clashes, answer }: Question) {
  const t = useTexts()
  const { nameOf }: Kind = useKind(kind)
  const labelOf = useFieldLabels(kind)
  return (
    <Dialog
      opened
      onClose={() => answer(null)}
      title={t.record.conflict({ what: nameOf(record as AnyRecord) })}
      size="lg"
      closeOnClickOutside={false}
      transitionProps={{ duration: 0 }}
    >
      <p className="hint">
        <Who kind={kind} record={record} fields={clashes.map(({ field }) => field)} />
      </p>
      <table className="conflict" aria-label={t.record.conflict_values}>
        <thead>
          <tr>
            <th scope="col">{t.trash.field}</th>
            <th scope="col">{t.record.theirs}</th>
            <th scope="col">{t.record.yours}</th>
          </tr>
        </thead>
        <tbody>
          {clashes.map(({ field, theirs, mine }) => (
            <tr key={field}>
              <th scope="row">{labelOf(field)}</th>
              <td>
                <Value kind={kind} field={field} value={theirs} />
              </td>
              <td>
                <Value kind={kind} field={field} value={mine} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={() => answer('theirs')} data-autofocus>
          {t.record.keep_theirs}
        </Button>
        <Button onClick={() => answer('mine')}>{t.record.use_mine}</Button>
      </Group>
    </Dialog>
  )
}

/** The last author of these fields: from the history of the record, else its last author. */
function Who({ kind, record, fields }: Omit<Conflict, 'clashes'> & { fields: string[] }) {
  const sentence = useChangedMeanwhile()
  const { timeline = false }: Kind = useKind(kind)
  const { id, updated_by, updated_at } = record as Authored & { id: number }
  const { data } = useQuery({
    queryKey: ['timeline', kind, id, 'conflict', updated_at],
    queryFn: ({ signal }) => recordApi(kind).timeline(id, { cursor: 'start', per_page: 25 }, signal),
    enabled: timeline,
  })
  const names = fields.map((field) => field.split('.')[0] as string)
  const change = data?.data.find(({ data: { after } }) =>
    names.some((name) => name in ((after as Fields | null | undefined) ?? {})),
  )
  const by = (change?.data.actor ?? updated_by) as Actor | null
  return sentence(by, change?.at ?? updated_at)
}

function Value({ kind, field, value }: { kind: RecordKind; field: string; value: unknown }) {
  const t = useTexts()
  const read = useReadable(kind)
  const referenced = useAllKinds().find(({ noun }) => field === `${noun}_id`)
  if (referenced && typeof value === 'number') return <RecordName kind={referenced.kind} id={value} />
  if (field === 'guest_ids' && Array.isArray(value) && value.length)
    return value.map((id, at) => (
      <span key={id}>
        {at > 0 && ', '}
        <RecordName kind="contacts" id={id} />
      </span>
    ))
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object'))
    return value.join(', ') || t.record.nothing
  if (typeof value === 'object' && value !== null) return t.record.exchanged
  return read(field, value)
}
