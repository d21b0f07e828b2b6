import { Button } from '@mantine/core'
import { type ComponentType, createContext, useContext, useState } from 'react'
import type { paths } from '../../api/schema'
import { useMay } from '../../app/session.ts'
import { useTexts } from '../../texts/texts.ts'

/** A change of a record, as its timeline shows it. */
export type Change = paths['/api/v1/events/of-change']['get']['parameters']['query']

type ReasonsDialog = ComponentType<Change & { onClose: () => void }>

/** The dialog that explains a change, provided by main.tsx, so that nothing here imports a room. */
export const ExplainContext = createContext<ReasonsDialog | null>(null)

/** A button that opens the reasons why each webhook got the events of a change or not. */
export function Explained({ label, ...change }: Change & { label: string }) {
  const t = useTexts()
  const Reasons = useContext(ExplainContext)
  const may = useMay()('webhooks:read')
  const [opened, setOpened] = useState(false)
  if (!may || !Reasons) return null
  return (
    <>
      <Button variant="subtle" size="compact-xs" aria-label={label} onClick={() => setOpened(true)}>
        {t.record.explain}
      </Button>
      {opened && <Reasons {...change} onClose={() => setOpened(false)} />}
    </>
  )
}
