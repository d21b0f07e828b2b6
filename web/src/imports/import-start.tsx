import { Button, Group, Progress } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useFormats } from '../app/formats.ts'
import { useNavigate } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/with-imports.ts'
import { ImportProgress } from './import-parts.tsx'
import { type Cells, type Choices, importQuery, startImport } from './imports.ts'
import type { ReadColumn } from './row-errors.ts'

/** `columns`: those of a table, whose cells the person can mend. */
type StartProps = { file: File; choices: Choices; columns?: readonly ReadColumn[] | null }

/** Checks the file without writing, and starts its import. */
export function Start({ file, choices, columns = null }: StartProps) {
  const t = useTexts()
  const formats = useFormats()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [sending, setSending] = useState<'check' | 'import' | null>(null)
  const [share, setShare] = useState(0)
  const [problem, setProblem] = useState<unknown>(null)
  // The check belongs to the choices that it was made with.
  const chosen = JSON.stringify(choices)
  const [cells, setCells] = useState<Cells>({})
  const mended = Object.values(cells).reduce((sum, of_row) => sum + Object.keys(of_row).length, 0)
  const [checked, setChecked] = useState<{ id: string; chosen: string } | null>(null)
  async function send(what: 'check' | 'import') {
    setSending(what)
    setShare(0)
    setProblem(null)
    try {
      const made = await startImport(file, choices, what === 'check', setShare, cells)
      client.setQueryData(importQuery(made.id).queryKey, made)
      if (what === 'check') setChecked({ id: made.id, chosen })
      else await navigate({ to: `/settings/imports/${made.id}` })
    } catch (error) {
      setProblem(error)
    } finally {
      setSending(null)
    }
  }
  return (
    <>
      <Group gap="sm">
        <Button
          variant="default"
          loading={sending === 'check'}
          disabled={sending === 'import'}
          onClick={() => send('check')}
        >
          {t.imports.dry_run}
        </Button>
        <Button loading={sending === 'import'} disabled={sending === 'check'} onClick={() => send('import')}>
          {t.imports.start}
        </Button>
      </Group>
      {sending && (
        <div>
          <Progress value={share * 100} aria-label={t.imports.progress} />
          <p className="hint numbers">{t.imports.sending({ percent: formats.percent(share) })}</p>
        </div>
      )}
      {problem ? <ProblemNote error={problem} /> : null}
      {mended > 0 && !sending && (
        <p className="hint" role="status">
          {t.imports.mended({ n: mended })}
        </p>
      )}
      {checked?.chosen === chosen && !sending && (
        <ImportProgress
          id={checked.id}
          {...(columns && {
            mending: {
              columns,
              cells,
              onCell: (row: string, header: string, value: string) =>
                setCells((all) => ({ ...all, [row]: { ...all[row], [header]: value } })),
            },
          })}
        />
      )}
    </>
  )
}
