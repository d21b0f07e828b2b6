import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { RecordKind } from '../../api/record-api.ts'
import { loaded } from '../../app/loading.ts'
import { useMay } from '../../app/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { type Kind, type Linked, type Related, useAllKinds, useKinds } from '../kinds.ts'
import type { RecordAction } from './more-actions.tsx'

/** The actions in the header of a record that create another one for it. `dialog` is to be shown. */
export function useQuickCreates(owner: RecordKind, name: string, initial: Linked) {
  const t = useTexts()
  const may = useMay()
  const kinds = useKinds()
  // Null until first opened. Then the dialog stays mounted, so that it can return the focus.
  const [asked, setAsked] = useState<{ kind: RecordKind; opened: boolean } | null>(null)
  const related = asked && kinds[asked.kind].related
  const { data: { Create } = {} } = useQuery({
    queryKey: ['look', asked?.kind],
    queryFn: () => loaded((related as NonNullable<Kind['related']>).load() as Promise<Related<RecordKind>>),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: asked !== null,
  })
  const actions = useAllKinds()
    .filter(({ kind, related }) => related?.header?.includes(owner) && may(`${kind}:write`))
    .map(
      ({ kind, icon }): RecordAction => ({
        id: kind,
        label: t.record.add_for({ one: t.kinds[kind].in_sentence.one, name }),
        icon,
        run: () => setAsked({ kind, opened: true }),
      }),
    )
  const dialog: ReactNode = Create && asked && (
    <Create
      key={asked.kind}
      opened={asked.opened}
      onClose={() => setAsked({ ...asked, opened: false })}
      initial={initial}
    />
  )
  return { actions, dialog }
}
