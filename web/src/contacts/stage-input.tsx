import { Autocomplete, type AutocompleteProps, Select } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { RowOf } from '../api/record-api.ts'
import { useSession } from '../app/session.ts'

/** The stages in the cached lists of contacts: each workspace has its own. */
function useKnownStages(): string[] {
  const client = useQueryClient()
  const lists = client.getQueriesData<{ data: RowOf<'contacts'>[] }>({ queryKey: ['contacts', 'list'] })
  const stages = lists.flatMap(([, list]) => list?.data.map(({ stage }) => stage) ?? [])
  return [...new Set(stages)].filter((stage) => stage !== null).sort()
}

type Props = Pick<AutocompleteProps, 'label' | 'error' | 'comboboxProps' | 'value' | 'onChange'>

/** A contact's stage: one of those that the workspace keeps; without them, free text, with suggestions. */
export function StageInput({ value, onChange, ...props }: Props) {
  const { contact_stages: kept } = useSession().workspace
  const known = useKnownStages()
  if (!kept.length)
    return (
      <Autocomplete
        maxLength={64}
        {...props}
        value={value ?? ''}
        onChange={(text) => onChange?.(text)}
        data={known}
      />
    )
  const data = value && !kept.includes(value) ? [...kept, value] : kept
  return (
    <Select
      {...props}
      clearable
      data={data}
      value={value || null}
      onChange={(one) => onChange?.(one ?? '')}
    />
  )
}
