import { Button, Stack, Text } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { useTexts } from '../texts/texts.ts'
import { FilterSentence } from './filter-sentence.tsx'
import type { Filter } from './filters.tsx'
import type { ListView } from './list-view.ts'

type Props = { many: string; view: ListView; filters: readonly Filter[] }

/** An empty list with filters: each of them, to remove it. */
export function NoMatches({ many, view, filters }: Props) {
  const t = useTexts()
  const active = filters.flatMap((filter) => {
    const value = view.filters[filter.name]
    return value ? [{ filter, value }] : []
  })
  return (
    <Stack align="center" gap="md" py={64} px="lg">
      <Text c="dimmed" ta="center">
        {t.filters.none(many)} {t.filters.remove}
      </Text>
      <div className="no-matches">
        {active.map(({ filter, value }) => (
          <Button
            key={filter.name}
            variant="default"
            rightSection={<XIcon size={12} />}
            onClick={() => view.setFilter(filter.name, null)}
          >
            <FilterSentence filter={filter} value={value} />
          </Button>
        ))}
        {view.search && (
          <Button variant="default" rightSection={<XIcon size={12} />} onClick={() => view.setSearch('')}>
            {t.app.search}: {view.search}
          </Button>
        )}
      </div>
    </Stack>
  )
}
