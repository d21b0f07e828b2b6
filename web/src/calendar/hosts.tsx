import { createContext, useCallback, useMemo } from 'react'
import { useMembers, useOwnerName } from '../record/fields/members.ts'
import { useTexts } from '../texts/texts.ts'
import type { Entered } from './appointments.ts'

const colours = 8

type ColourOf = (owner_id: string | null) => React.CSSProperties

/** The colour of a host: the place among the members decides, so that it is the same on each day. */
export const HostColours = createContext<ColourOf>(() => ({}))

const styleOf = (at: number) => ({ '--host': `var(--host-${at % colours})` }) as React.CSSProperties

export function useHostColours(): ColourOf {
  const { members } = useMembers()
  const places = useMemo(
    () =>
      new Map([...(members ?? [])].sort((a, b) => a.id.localeCompare(b.id)).map(({ id }, at) => [id, at])),
    [members],
  )
  return useCallback(
    (id) => {
      const at = id === null ? undefined : places.get(id)
      return at === undefined ? {} : styleOf(at)
    },
    [places],
  )
}

/** The names of the hosts that are in sight, each with its colour. One host needs no name. */
export function Hosts({ entries, colourOf }: { entries: readonly Entered[]; colourOf: ColourOf }) {
  const t = useTexts()
  const nameOf = useOwnerName()
  const ids = [...new Set(entries.map(({ owner_id }) => owner_id))].filter((id) => id !== null)
  if (ids.length < 2) return null
  const named = ids.map((id) => ({ id, name: nameOf(id) ?? id })).sort((a, b) => a.name.localeCompare(b.name))
  return (
    <ul className="calendar-hosts" aria-label={t.calendar.hosts}>
      {named.map(({ id, name }) => (
        <li key={id} style={colourOf(id)}>
          {name}
        </li>
      ))}
    </ul>
  )
}
