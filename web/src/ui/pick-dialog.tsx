import { useState } from 'react'
import { holdKeys } from '../app/commands.ts'
import { later } from '../app/contained.tsx'

export type Entry = {
  id: string
  name: string
  detail?: string | null
  icon: React.ReactNode
  keys?: string
  /** At the right end, such as a mark of the present choice. */
  side?: React.ReactNode
  /** Whether it opens a field: the keys that follow go into it. */
  opens_field?: boolean
  run: () => void
}
export type Group = { label: string; entries: Entry[] }

export type PickProps = {
  label: string
  placeholder: string
  text: string
  onText: (text: string) => void
  groups: Group[]
  searching?: boolean
  /** Below the entries: an error, or that there are none. */
  said: string
  /** As small as a few entries need. */
  compact?: boolean
  onClose: () => void
}

const PickList = later(async () => (await import('./pick-list.tsx')).PickList)

/** One field and a list below it, loaded when it first opens. The keys that are typed until then go into the field. */
export function PickDialog(props: PickProps) {
  useState(holdKeys)
  return <PickList {...props} />
}
