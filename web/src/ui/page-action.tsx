import { ActionIcon, Button } from '@mantine/core'
import type { Icon } from '@primer/octicons-react'
import { oneClick } from './one-press.ts'

type Props = { label: string; icon: Icon; word?: string } & (
  | { onClick: () => void }
  | { href: string; target?: '_blank'; rel?: string }
)

/** An action of a page: an icon, or with a word a button. The label, which has the word in it, is its name. */
export function PageAction({ label, icon: ActionSign, word, ...action }: Props) {
  const names = { 'aria-label': label, title: label }
  if (word) {
    const look = { variant: 'default', ...names, leftSection: <ActionSign size={14} />, children: word }
    return 'href' in action ? (
      <Button component="a" {...look} {...action} />
    ) : (
      <Button {...look} onClick={oneClick(action.onClick)} />
    )
  }
  const look = { variant: 'default', size: 30, ...names, children: <ActionSign /> } as const
  return 'href' in action ? (
    <ActionIcon component="a" {...look} {...action} />
  ) : (
    <ActionIcon {...look} onClick={oneClick(action.onClick)} />
  )
}
