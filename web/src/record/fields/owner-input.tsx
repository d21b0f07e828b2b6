import type { RecordKind } from '../../api/record-api.ts'
import { Select } from '../../ui/select.tsx'
import { useLabels } from '../kinds.ts'
import { useMembers, useReadsMembers } from './members.ts'

type InputProps = { kind: RecordKind; value?: string | null; onChange?: (id: string | null) => void }

/** The owner of a new record. */
export function OwnerInput({ kind, ...input }: InputProps) {
  const labelOf = useLabels(kind)
  const { members = [] } = useMembers()
  if (!useReadsMembers()) return null
  return (
    <Select
      label={labelOf('owner_id')}
      data={members.map(({ id, label }) => ({ value: id, label }))}
      searchable
      clearable
      {...input}
    />
  )
}
