import { Button } from '@mantine/core'
import type { RecordKind } from '../../api/record-api.ts'
import { Link } from '../../app/link.ts'
import { useMay } from '../../app/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { type Kind, useKind, useNames } from '../kinds.ts'

/** Whether the kind has imports and the person may start one. */
export function useMayImport(kind: RecordKind): boolean {
  const { matches }: Kind = useKind(kind)
  const may = useMay()
  return matches !== undefined && may('imports:write') && may(`${kind}:write`)
}

/** Leads from an empty list to an import. */
export function ImportOffer({ kind }: { kind: RecordKind }) {
  const t = useTexts()
  const { in_sentence } = useNames(kind)
  if (!useMayImport(kind)) return null
  return (
    <Button component={Link} to="/settings/imports/new" search={{ resource: kind }} variant="default">
      {t.record.import(in_sentence)}
    </Button>
  )
}
