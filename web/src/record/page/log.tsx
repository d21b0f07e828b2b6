import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { RecordKind } from '../../api/record-api.ts'
import { useCommands } from '../../app/commands.ts'
import { loaded } from '../../app/loading.ts'
import { useMay } from '../../app/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { fullName } from '../../ui/full-name.ts'
import { type AnyRecord, type Kind, type Linked, useKind, useKinds } from '../kinds.ts'

/** The kinds of records that an activity can be about. */
const logged: readonly RecordKind[] = ['contacts', 'companies', 'deals']

type Offer = {
  /** The name of the command, unique among those that are offered. */
  id: string
  /** Whom or what it was about, such as Ana Ruiz; left out where no record is open. */
  name?: string | undefined
  /** The values that the dialog starts with; null: no record is meant. */
  target: () => Linked | null
  /** Offers the key only: the palette has another command for it. */
  keys_only?: boolean
}

/**
 * Offers to log a call, a meeting or an e-mail, with its outcome and the next step in one dialog: by the key, by
 * the palette, and by `open`, which is null if the role may not. `dialog` is to be shown.
 */
function useLog({ id, name, target, keys_only = false }: Offer, offered = true) {
  const t = useTexts()
  const load = useKinds().activities.log
  const enabled = useMay()('activities:write') && load !== undefined
  // Null until first opened. Then the dialog stays mounted, so that it can return the focus.
  const [asked, setAsked] = useState<{ initial: Linked; opened: boolean } | null>(null)
  const { data: Log } = useQuery({
    queryKey: ['look', 'log'],
    queryFn: async () => ({ Dialog: await loaded((load as NonNullable<typeof load>)()) }),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: enabled && asked !== null,
  })
  const open = () => setAsked({ initial: target() ?? {}, opened: true })
  const label = name === undefined ? t.record.log : t.record.log_with({ name })
  useCommands([{ id, label, group: 'create', keys: 'l', keys_only, run: open }], enabled && offered)
  const dialog: ReactNode = Log && asked && (
    <Log.Dialog
      {...asked}
      key={JSON.stringify(asked.initial)}
      onClose={() => setAsked({ ...asked, opened: false })}
    />
  )
  return { open: enabled ? open : null, label, dialog }
}

/** The same of every page. It comes before the page, whose own command has the key. */
export const LogAnywhere = (): ReactNode => useLog({ id: 'log', target: () => null }).dialog

type Row = {
  id: number
  company?: Linked['company']
  contact?: { id: number; first_name: string; last_name: string } | null
}

/** The same of a record: a new activity is about it, and about the records that it refers to. */
export function useRecordLog(kind: RecordKind, id: number, name: string, linked: Linked | undefined) {
  const { noun } = useKind(kind)
  const target = () => ({ ...linked, [noun]: { id, name } })
  return useLog({ id: 'log-record', name, target }, logged.includes(kind))
}

/** The same of a list or a board, for the row or the card that has the focus. */
export function useListLog(kind: RecordKind, focused: () => Row | null | undefined): ReactNode {
  const { noun, nameOf }: Kind = useKind(kind)
  const target = () => {
    const row = focused()
    if (!row) return null
    const { id, company = null, contact } = row
    return {
      company,
      contact: contact ? { id: contact.id, name: fullName(contact) } : null,
      [noun]: { id, name: nameOf(row as AnyRecord) },
    }
  }
  return useLog({ id: 'log-row', target, keys_only: true }, logged.includes(kind)).dialog
}
