import { useMemo } from 'react'
import type { RecordKind } from '../../api/record-api.ts'
import { useCommands } from '../../app/commands.ts'
import { useSession } from '../../app/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { Field } from '../../ui/fields.tsx'
import type { Filter } from '../../ui/filters.tsx'
import type { ListView } from '../../ui/list-view.ts'
import type { Column } from '../../ui/table.tsx'
import { Initials } from '../../ui/values.tsx'
import { useLabels } from '../kinds.ts'
import { useMembers, useOwnerName, useReadsMembers } from './members.ts'
import './owner.css'

/** A record with the id of its owner. */
export type Owned = { id: number; owner_id: string | null }

type OwnerId = { id: string | null }

/** The owner as initials, where there is no room for the name. */
export function OwnerAvatar({ kind, id }: OwnerId & { kind: RecordKind }) {
  const labelOf = useLabels(kind)
  const nameOf = useOwnerName()
  const name = id === null ? undefined : nameOf(id)
  if (!name) return null
  const label = `${labelOf('owner_id')}: ${name}`
  return (
    <span className="owner-avatar" role="img" aria-label={label} title={label}>
      <Initials name={name} />
    </span>
  )
}

function Owner({ name }: { name: string | undefined }) {
  if (!name) return null
  return (
    <span className="owner-name" title={name}>
      <Initials name={name} />
      <span className="one-line">{name}</span>
    </span>
  )
}

/** The owner with the name. */
export function OwnerName({ id }: OwnerId) {
  const nameOf = useOwnerName()
  return <Owner name={id === null ? undefined : nameOf(id)} />
}

/** The column of owners. The names are read once, not by each row. */
export function useOwnerColumn(kind: RecordKind): Column<Owned> {
  const labelOf = useLabels(kind)
  const nameOf = useOwnerName()
  return useMemo(
    () => ({
      id: 'owner',
      width: 120,
      label: labelOf('owner_id'),
      cell: ({ owner_id }) => <Owner name={owner_id === null ? undefined : nameOf(owner_id)} />,
    }),
    [labelOf, nameOf],
  )
}

type FieldProps = {
  kind: RecordKind
  owner_id: string | null
  onSave?: ((owner_id: string | null) => Promise<unknown>) | undefined
}

/** The owner of a record, changed in place. */
export function OwnerField({ kind, owner_id, onSave }: FieldProps) {
  const labelOf = useLabels(kind)
  const { members = [] } = useMembers()
  if (!useReadsMembers()) return null
  return (
    <Field
      label={labelOf('owner_id')}
      value={owner_id}
      shown={owner_id === null ? undefined : <OwnerName id={owner_id} />}
      options={members.map(({ id, label }) => ({ value: id, label }))}
      searchable
      onSave={onSave && ((id) => onSave(id as string | null))}
    />
  )
}

/** The value of the filter by owner for the person. */
export const owner_me = 'me'

/** The command that filters a list by the person, or ends that filter. */
export function useMineCommand({ filters, setFilter }: Pick<ListView, 'filters' | 'setFilter'>): void {
  const t = useTexts()
  const mine = filters.owner_id === owner_me
  const run = () => setFilter('owner_id', mine ? null : owner_me)
  useCommands([
    { id: 'mine', label: mine ? t.record.show_everybodys : t.record.show_mine, group: 'lists', run },
  ])
}

/** The filter by owner: the person, other members, or nobody. */
export function useOwnerFilter(kind: RecordKind): Filter {
  const t = useTexts()
  const { user } = useSession()
  const labelOf = useLabels(kind)
  const { members } = useMembers()
  return useMemo(() => {
    const others = (members ?? []).filter(({ id }) => id !== user.id)
    return {
      name: 'owner_id',
      label: labelOf('owner_id'),
      kind: 'choice',
      nullable: true,
      options: [
        { value: owner_me, label: t.record.me },
        ...others.map(({ id, label }) => ({ value: id, label })),
      ],
      show: (id) => (id === owner_me ? t.record.me : <OwnersName id={id} />),
    }
  }, [members, user.id, labelOf, t])
}

/** The name of an owner; without a name, the id. */
const OwnersName = ({ id }: { id: string }) => useOwnerName()(id) ?? id
