import { Button } from '@mantine/core'
import { CheckIcon, PersonIcon } from '@primer/octicons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { recordApi } from '../../api/record-api.ts'
import { useCommands } from '../../app/commands.ts'
import { matching } from '../../app/matching.ts'
import { explain } from '../../app/problems.tsx'
import { useMay } from '../../app/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { focusedRow } from '../../ui/focus.ts'
import type { ListPage } from '../../ui/list-page.tsx'
import { PickDialog } from '../../ui/pick-dialog.tsx'
import { showMessage } from '../../ui/undo.tsx'
import { Initials } from '../../ui/values.tsx'
import { useMembers, useOwnerName, useReadsMembers } from '../fields/members.ts'
import type { Owned } from '../fields/owner.tsx'
import { type AnyRecord, type Kind, type OwnedKind, useKind, useNames } from '../kinds.ts'
import { useBulk } from './bulk.tsx'

type Work<Row> = (rows: readonly Row[]) => Promise<readonly Row[]>
/** Records to assign. `act` runs the work on selected rows, and selects those that failed. */
export type Targets<Row> = { rows: readonly Row[]; act?: (work: Work<Row>) => unknown }

/**
 * Gives records another owner. The key and the palette ask for that of `targets`; `ask` for that of any
 * records, and is null if the role may not. `dialog` is to be shown.
 */
export function useAssign<Row extends Owned>(kind: OwnedKind, targets: () => Targets<Row>, offered = true) {
  const t = useTexts()
  const writes = useMay()(`${kind}:write`)
  const enabled = useReadsMembers() && writes
  const [asked, setAsked] = useState<Targets<Row> | null>(null)
  const give = useGive<Row>(kind)
  const run = () => {
    const meant = targets()
    if (meant.rows.length) setAsked(meant)
    else showMessage(t.record.assign_none)
  }
  const command = { id: `assign-${kind}`, label: t.record.assign, keys: 'a', run } as const
  useCommands([{ ...command, group: 'actions' }], enabled && offered)
  function pick({ rows, act }: Targets<Row>, owner_id: string | null) {
    const work: Work<Row> = (those) => give(those, owner_id)
    return act ? act(work) : work(rows)
  }
  const dialog: ReactNode = asked && (
    <AssignDialog
      kind={kind}
      rows={asked.rows}
      onPick={(owner_id) => pick(asked, owner_id)}
      onClose={() => setAsked(null)}
    />
  )
  return { ask: enabled ? setAsked : null, dialog }
}

type ListOf<Row extends Owned> = Pick<ListPage<Row>, 'rows' | 'chosen' | 'reading' | 'act'>

/**
 * The same of a list: for the selected rows, else the focused one, else the record in the side panel.
 * `button` is for the bar of the selection. While all rows are read to be selected, the key and the palette do not offer it.
 */
export function useListAssign<Row extends Owned>(kind: OwnedKind, list: ListOf<Row>, open: string | null) {
  const t = useTexts()
  const client = useQueryClient()
  const selected = { rows: list.chosen, act: list.act }
  const targets = () => {
    if (list.chosen.length) return selected
    const opened = client.getQueryData<unknown>(recordApi(kind).query(Number(open)).queryKey)
    const row = focusedRow(list.rows) ?? (opened as Row | undefined)
    return { rows: row ? [row] : [] }
  }
  const { ask, dialog } = useAssign<Row>(kind, targets, list.reading === null)
  const button: ReactNode = ask && (
    <Button variant="default" leftSection={<PersonIcon size={14} />} onClick={() => ask(selected)}>
      {t.record.assign}
    </Button>
  )
  return { button, dialog }
}

/** Stores the owner of records, with Undo. Resolves to the records that failed. */
function useGive<Row extends Owned>(kind: OwnedKind) {
  const t = useTexts()
  const bulk = useBulk()
  const names = useNames(kind)
  const ownerNameOf = useOwnerName()
  const nameOf = useKind(kind).nameOf as unknown as (row: Row) => string
  return (rows: readonly Row[], owner_id: string | null): Promise<Row[]> => {
    const [only, more] = rows
    const who = owner_id && (ownerNameOf(owner_id) ?? '')
    return bulk({
      kind,
      items: rows.filter((row) => row.owner_id !== owner_id),
      nameOf,
      work: { change: () => ({ owner_id }) },
      undo: { change: (row) => ({ owner_id: row.owner_id }) },
      message: (n) =>
        t.record.assigned({
          what: only && !more ? nameOf(only) : names.counted({ n }),
          who: who ?? t.record.no_one,
        }),
    })
  }
}

type DialogProps = {
  kind: OwnedKind
  rows: readonly Owned[]
  onPick: (owner_id: string | null) => void
  onClose: () => void
}

/** Chooses the owner of records: type a part of the name, Enter takes it. */
function AssignDialog({ kind, rows, onPick, onClose }: DialogProps) {
  const t = useTexts()
  const [text, setText] = useState('')
  const { members, error } = useMembers()
  const names = useNames(kind)
  const { nameOf }: Kind = useKind(kind)
  const [only, more] = rows
  const what = only && !more ? nameOf(only as AnyRecord) : names.counted({ n: rows.length })
  const present = rows.every(({ owner_id }) => owner_id === only?.owner_id) ? only?.owner_id : undefined
  const choices = [
    ...(members ?? []).map(({ id, label, name, email }) => ({
      id,
      label,
      detail: email,
      name: `${label} ${email}`,
      icon: <Initials name={name} />,
    })),
    { id: null, label: t.record.nobody, detail: null, name: t.record.nobody, icon: <Nobody /> },
  ]
  const entries = matching(text, members ? choices : []).map(({ id, label, detail, icon }) => ({
    id: id ?? 'nobody',
    name: label,
    detail,
    icon,
    side: id === present && <CheckIcon aria-label={t.record.present} />,
    run: () => onPick(id),
  }))
  const none = members && !entries.length
  return (
    <PickDialog
      compact
      label={t.record.assign_to({ what })}
      placeholder={t.record.assign_hint}
      text={text}
      onText={setText}
      groups={entries.length ? [{ label: t.record.assign_to({ what }), entries }] : []}
      searching={!members && !error}
      said={error ? explain(error, t) : none ? t.app.palette_empty : ''}
      onClose={onClose}
    />
  )
}

const Nobody = () => (
  <span className="palette-icon">
    <PersonIcon />
  </span>
)
