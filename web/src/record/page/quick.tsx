import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { RecordKind } from '../../api/record-api.ts'
import { loaded } from '../../app/loading.ts'
import { useMay } from '../../app/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { PageAction } from '../../ui/page-action.tsx'
import { type Kind, type Linked, type Related, useAllKinds, useNames } from '../kinds.ts'

type Props = { owner: RecordKind; name: string; linked: Linked }

/** The buttons in the header of a record that create another one for it. */
export function QuickCreates({ owner, ...props }: Props) {
  const may = useMay()
  return useAllKinds()
    .filter(({ kind, related }) => related?.header?.includes(owner) && may(`${kind}:write`))
    .map((kind) => <QuickCreate key={kind.kind} kind={kind} {...props} />)
}

function QuickCreate({ kind: { kind, icon, related }, name, linked }: Omit<Props, 'owner'> & { kind: Kind }) {
  const t = useTexts()
  const { in_sentence } = useNames(kind)
  // Null until first opened. Then the dialog stays mounted, so that it can return the focus.
  const [creating, setCreating] = useState<boolean | null>(null)
  const { data: { Create } = {} } = useQuery({
    queryKey: ['look', kind],
    queryFn: () => loaded((related as NonNullable<Kind['related']>).load() as Promise<Related<RecordKind>>),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: creating !== null,
  })
  return (
    <>
      <PageAction
        label={t.record.add_for({ one: in_sentence.one, name })}
        icon={icon}
        onClick={() => setCreating(true)}
      />
      {Create && creating !== null && (
        <Create opened={creating} onClose={() => setCreating(false)} initial={linked} />
      )}
    </>
  )
}
