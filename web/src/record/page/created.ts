import type { RecordKind, RecordOf } from '../../api/record-api.ts'
import type { RecordPath } from '../../app/addresses.ts'
import { useNavigate } from '../../app/link.ts'
import { useTexts } from '../../texts/texts.ts'
import { showCreated } from '../../ui/undo.tsx'
import { type AnyRecord, type Kind, useKind } from '../kinds.ts'

/** Says that a record was created, with a link to it: it may be on no list that is shown. */
export function useShowCreated<K extends RecordKind>(kind: K): (record: RecordOf<K>) => void {
  const t = useTexts()
  const navigate = useNavigate()
  const { path, nameOf }: Kind = useKind(kind)
  return (record) => {
    const to: RecordPath = `${path}/${(record as { id: number }).id}`
    showCreated(t, nameOf(record as AnyRecord), to, () => navigate({ to }))
  }
}
