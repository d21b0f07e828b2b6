import type { ComponentProps } from 'react'
import { type NewOf, type RecordKind, recordApi } from '../../api/record-api.ts'
import { useMay, useSession } from '../../app/session.ts'
import { type Choice, ReferenceInput } from '../../ui/reference.tsx'
import { type AnyRecord, type Kind, useKind, useLabels, useNames } from '../kinds.ts'
import { useShowCreated } from '../page/created.ts'
import { useRefreshAfter } from '../refresh.ts'
import { useSearch } from '../search.ts'

type ChooserProps = Omit<ComponentProps<typeof ReferenceInput>, 'kind' | 'search' | 'label' | 'create'> & {
  kind: RecordKind
  /** Left out: the label of a reference to the kind. */
  label?: string
}

/** Creates a record of a typed name, for a reference. Undefined if the kind has none, or the person may not. */
function useNamed(kind: RecordKind) {
  const { user } = useSession()
  const { create_named } = useNames(kind)
  const { named, nameOf }: Kind = useKind(kind)
  const refresh = useRefreshAfter(kind)
  const showCreated = useShowCreated(kind)
  const may = useMay()(`${kind}:write`)
  if (!named || !may) return
  return {
    label: (name: string) => named(name) && create_named({ name }),
    async run(name: string): Promise<Choice> {
      const body = { ...named(name), owner_id: user.id }
      const record = await recordApi(kind).create(body as NewOf<typeof kind>)
      refresh()
      showCreated(record)
      return { id: record.id, name: nameOf(record as AnyRecord) }
    },
  }
}

/** Chooses a record by a part of its name, or creates it. */
export function RecordChooser({ kind, label, ...given }: ChooserProps) {
  const labelOf = useLabels(kind)
  const search = useSearch()
  const { noun } = useKind(kind)
  const create = useNamed(kind)
  return (
    <ReferenceInput
      {...given}
      label={label ?? labelOf(`${noun}_id`)}
      kind={kind}
      search={search(kind)}
      {...(create && { create })}
    />
  )
}
