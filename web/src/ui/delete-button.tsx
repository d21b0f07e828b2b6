import { ActionIcon, Tooltip } from '@mantine/core'
import { TrashIcon } from '@primer/octicons-react'

/** Deletes what the page shows. */
export function DeleteButton({ label, onDelete }: { label: string; onDelete: () => void }) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size={30} aria-label={label} onClick={onDelete}>
        <TrashIcon />
      </ActionIcon>
    </Tooltip>
  )
}
