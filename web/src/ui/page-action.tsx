import { ActionIcon } from '@mantine/core'
import type { Icon } from '@primer/octicons-react'
import { oneClick } from './one-press.ts'

type Props = { label: string; icon: Icon } & (
  | { onClick: () => void }
  | { href: string; target?: '_blank'; rel?: string }
)

/** An icon among the actions of a page, with its label on hover. */
export function PageAction({ label, icon: ActionSign, ...action }: Props) {
  const names = { 'aria-label': label, title: label }
  const look = { variant: 'default', size: 30, ...names, children: <ActionSign /> } as const
  return 'href' in action ? (
    <ActionIcon component="a" {...look} {...action} />
  ) : (
    <ActionIcon {...look} onClick={oneClick(action.onClick)} />
  )
}
