import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem } from '../api/problem.ts'
import { type RecordKind, recordApi } from '../api/record-api.ts'
import { fieldMessage, ProblemNote } from '../app/problems.tsx'
import { useMay, useSession } from '../app/session.ts'
import { definitionsQuery } from '../record/fields/definitions.ts'
import type { OwnedKind } from '../record/kinds.ts'
import { useTexts } from '../texts/with-settings.ts'
import { offerUndo, showMessage } from '../ui/undo.tsx'
import { fillSampleData, removeSampleData, sample_tag } from './sample-records.ts'
import { Section } from './section.tsx'

const needed = ['contacts', 'companies', 'deals', 'activities'].map((kind) => `${kind}:write`)

/** Fills in sample data, and takes it away again. */
export function SampleData() {
  const t = useTexts()
  const client = useQueryClient()
  const { user } = useSession()
  const may = useMay()
  const { data } = useQuery(recordApi('contacts').listQuery({ tag: sample_tag, per_page: 1 }))
  const [working, setWorking] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const total = data?.meta.total
  if (total === undefined || !needed.every(may)) return null
  async function run() {
    setWorking(true)
    setProblem(null)
    try {
      if (total) {
        const restore = await removeSampleData()
        offerUndo(t, t.settings.sample_removed, async () => {
          await restore().finally(() => client.invalidateQueries())
        })
      } else {
        await fillSampleData(user.id, t, named)
        showMessage(t.settings.sample_filled)
      }
    } catch (error) {
      setProblem(error)
    }
    await client.invalidateQueries()
    setWorking(false)
  }
  /** Names the custom field that refuses the data, such as a required one: none is on this page. */
  async function named(kind: RecordKind, error: unknown): Promise<unknown> {
    const [first] = error instanceof Problem ? error.fields : []
    if (!first?.field.includes('.custom_fields.')) return error
    const definitions = await client.fetchQuery(definitionsQuery(kind as OwnedKind)).catch(() => [])
    const field = definitions.find(({ key }) => first.field.endsWith(`.custom_fields.${key}`))
    if (!field) return error
    const { status, request_id } = error as Problem
    return new Problem(status, 'conflict', `${field.label}: ${fieldMessage(first, t)}`, request_id)
  }
  return (
    <Section title={t.settings.sample}>
      <p className="hint settings-hint">{total ? t.settings.sample_there : t.settings.sample_text}</p>
      <Button variant="default" loading={working} onClick={run}>
        {total ? t.settings.sample_remove : t.settings.sample_fill}
      </Button>
      {problem ? <ProblemNote error={problem} /> : null}
    </Section>
  )
}
