import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { ListedContact } from './contacts.ts'

/** The stages of the contacts that were listed last: what the workspace calls them is its own affair. */
function useKnownStages(): string[] {
  const client = useQueryClient()
  const lists = client.getQueriesData<{ data: ListedContact[] }>({ queryKey: ['contacts', 'list'] })
  const stages = lists.flatMap(([, list]) => list?.data.map(({ stage }) => stage) ?? [])
  return [...new Set(stages)].filter((stage) => stage !== null).sort()
}

/** A contact's stage: free text, with those that are in use to choose from. */
export function StageInput(props: Omit<AutocompleteProps, 'data'>) {
  return <Autocomplete maxLength={64} {...props} data={useKnownStages()} />
}
