import { ActionIcon, Tooltip } from '@mantine/core'
import type { Icon } from '@primer/octicons-react'

type Props = { label: string; icon: Icon } & (
  | { onClick: () => void }
  | { href: string; target?: '_blank'; rel?: string }
)

/** An icon among the actions of a page, with its label on hover. */
export function PageAction({ label, icon: ActionSign, ...action }: Props) {
  const look = { variant: 'default', size: 30, 'aria-label': label, children: <ActionSign /> } as const
  return (
    <Tooltip label={label}>
      {'href' in action ? (
        <ActionIcon component="a" {...look} {...action} />
      ) : (
        <ActionIcon {...look} {...action} />
      )}
    </Tooltip>
  )
}
