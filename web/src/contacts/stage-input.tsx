import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { RowOf } from '../api/record-api.ts'

/** The stages in the cached lists of contacts: each workspace has its own. */
function useKnownStages(): string[] {
  const client = useQueryClient()
  const lists = client.getQueriesData<{ data: RowOf<'contacts'>[] }>({ queryKey: ['contacts', 'list'] })
  const stages = lists.flatMap(([, list]) => list?.data.map(({ stage }) => stage) ?? [])
  return [...new Set(stages)].filter((stage) => stage !== null).sort()
}

/** A contact's stage: free text, with suggestions. */
export function StageInput(props: Omit<AutocompleteProps, 'data'>) {
  return <Autocomplete maxLength={64} {...props} data={useKnownStages()} />
}
