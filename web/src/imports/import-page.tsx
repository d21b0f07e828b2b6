import { Button, Group, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Link } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { RecordLink } from '../record/fields/linked.tsx'
import { type Kind, useKinds } from '../record/kinds.ts'
import { ReadRecord } from '../record/page/record-page.tsx'
import { SettingsFrame } from '../settings/settings-frame.tsx'
import { useTexts } from '../texts/with-imports.ts'
import { useDoing } from '../ui/doing.ts'
import { WhatComesNext } from './import-next.tsx'
import { ImportProgress, titleOf } from './import-parts.tsx'
import { cancelImport, hasEnded, type Import, importQuery, type Undone, undoImport } from './imports.ts'

/** An import: its progress, its result, and what can be done about it. */
export function ImportPage() {
  const t = useTexts()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const { data } = useQuery(importQuery(id))
  return (
    <SettingsFrame
      title={data ? titleOf(data, t) : t.imports.unnamed}
      actions={
        <Button component={Link} to="/settings/imports" variant="default">
          {t.imports.back}
        </Button>
      }
      api={{ path: `/imports/${id}` }}
    >
      <ReadRecord query={importQuery(id)}>
        {(one) => (
          <>
            <ImportProgress id={id} />
            <ImportActions one={one} />
          </>
        )}
      </ReadRecord>
    </SettingsFrame>
  )
}

function ImportActions({ one }: { one: Import }) {
  const t = useTexts()
  const client = useQueryClient()
  const may = useMay()
  const writes = may('imports:write') && may(`${one.resource}:write`)
  const { doing, problem, run } = useDoing()
  const [undone, setUndone] = useState<Undone | null>(null)
  const act = (work: () => Promise<unknown>) => run(work).then(() => void client.invalidateQueries())
  const reasons: Record<string, string> = t.imports.reasons
  const ended = hasEnded(one)
  const undoes = ended && one.status !== 'undone' && !one.options.dry_run && one.created + one.updated > 0
  return (
    <>
      {problem ? <ProblemNote error={problem} /> : null}
      {ended && one.status !== 'undone' && !one.options.dry_run && <WhatComesNext one={one} />}
      <Group gap="sm" mt="lg">
        {writes && !ended && (
          <Button variant="default" loading={doing} onClick={() => act(() => cancelImport(one.id))}>
            {t.imports.cancel}
          </Button>
        )}
        {writes && undoes && (
          <Button
            variant="default"
            loading={doing}
            onClick={() => act(async () => setUndone(await undoImport(one.id)))}
          >
            {t.imports.undo}
          </Button>
        )}
      </Group>
      {writes && undoes && <p className="hint import-hint">{t.imports.undo_text}</p>}
      {undone && (
        <div role="status">
          <Text size="sm" mt="md">
            {t.imports.undone({ restored: undone.restored, left: undone.left.length })}
          </Text>
          <ul className="import-left">
            {undone.left.slice(0, 20).map((left) => (
              <li key={`${left.kind} ${left.id}`}>
                <LeftRecord {...left} /> {reasons[left.reason] ?? left.reason}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  )
}

/** A record that an undo left as it is. */
function LeftRecord({ kind, id, reason }: Undone['left'][number]) {
  const kinds: Record<string, Kind | undefined> = useKinds()
  const known = kinds[kind]?.kind
  if (!known) return `${kind} #${id}`
  // A deleted record cannot be read.
  const name = reason === 'deleted' ? { name: `#${id}` } : {}
  return <RecordLink kind={known} id={Number(id)} className="" {...name} />
}
