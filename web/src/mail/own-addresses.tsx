import { Button } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { type UseQueryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ProblemNote } from '../app/problems.tsx'
import { Ask } from '../settings/ask.tsx'
import { Section } from '../settings/section.tsx'
import { useTexts } from '../texts/with-mail.ts'
import { FormDialog } from '../ui/form.tsx'
import type { FormValues } from '../ui/record-form.ts'

type Named = (values: { name: string }) => string
type Props<One, Fields extends FormValues, Made> = {
  texts: { title: string; text: string; add: string; delete_text: string; change_of: Named; delete_of: Named }
  query: UseQueryOptions<One[]>
  /** The parts of a row between its name and its buttons. */
  row: (one: One, refresh: () => Promise<void>) => ReactNode
  /** The values of a new one. */
  empty: Fields
  startOf: (one: One) => Fields
  form: (form: UseFormReturnType<Fields>) => ReactNode
  create: (fields: Fields) => Promise<Made>
  onCreated?: (made: Made) => void
  change: (one: One, fields: Fields) => Promise<unknown>
  remove: (one: One) => Promise<unknown>
}

/** Addresses of calendars that belong to the person, with the dialogs that add, change and delete one. */
export function OwnAddresses<One extends { id: string; name: string }, Fields extends FormValues, Made>(
  props: Props<One, Fields, Made>,
) {
  const { texts, query, row, ...given } = props
  const { mail } = useTexts()
  const client = useQueryClient()
  const [adding, setAdding] = useState(false)
  const [changing, setChanging] = useState<One | null>(null)
  const [deleting, setDeleting] = useState<One | null>(null)
  const { data, error, refetch } = useQuery(query)
  const refresh = () => client.invalidateQueries({ queryKey: query.queryKey })
  return (
    <Section
      title={texts.title}
      beside={
        <Button variant="default" onClick={() => setAdding(true)}>
          {texts.add}
        </Button>
      }
    >
      <p className="settings-hint hint">{texts.text}</p>
      {error && <ProblemNote error={error} onRetry={refetch} />}
      <ul>
        {data?.map((one) => (
          <li key={one.id} className="settings-row">
            <span>{one.name}</span>
            {row(one, refresh)}
            <Button variant="subtle" aria-label={texts.change_of(one)} onClick={() => setChanging(one)}>
              {mail.feed_change}
            </Button>
            <Button
              variant="subtle"
              color="red"
              aria-label={texts.delete_of(one)}
              onClick={() => setDeleting(one)}
            >
              {mail.feed_delete}
            </Button>
          </li>
        ))}
      </ul>
      <FormDialog
        title={texts.add}
        opened={adding}
        onClose={() => setAdding(false)}
        action={texts.add}
        start={given.empty}
        send={given.create}
        onSent={(made) => {
          given.onCreated?.(made)
          refresh()
        }}
      >
        {given.form}
      </FormDialog>
      <FormDialog
        key={changing?.id}
        title={mail.feed_change}
        opened={changing !== null}
        onClose={() => setChanging(null)}
        action={mail.feed_change}
        start={changing ? given.startOf(changing) : given.empty}
        send={async (fields) => changing && given.change(changing, fields)}
        onSent={refresh}
      >
        {given.form}
      </FormDialog>
      <Ask
        title={mail.feed_delete_title({ name: deleting?.name ?? '' })}
        text={texts.delete_text}
        action={mail.feed_delete}
        opened={deleting !== null}
        onClose={() => setDeleting(null)}
        onDo={async () => {
          if (deleting) await given.remove(deleting)
          await refresh()
        }}
      />
    </Section>
  )
}
