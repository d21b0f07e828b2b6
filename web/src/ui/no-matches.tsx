import { Button, Stack, Text } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { useTexts } from '../texts/texts.ts'
import { FilterSentence } from './filter-sentence.tsx'
import { changeOf } from './filter-value.ts'
import { type Filter, shownFilters } from './filters.tsx'
import type { ListView } from './list-view.ts'

type Props = {
  /** The name of the records in a sentence. */
  many: string
  view: ListView
  filters: readonly Filter[]
  /** In one line, above something that stays. */
  line?: boolean
}

/** An empty list with filters: each of them, to remove it. */
export function NoMatches({ many, view, filters, line = false }: Props) {
  const t = useTexts()
  const shown = shownFilters(view, filters)
  return (
    <Stack
      align="center"
      gap={line ? 'xs' : 'md'}
      py={line ? 'sm' : 64}
      px="lg"
      role={line ? 'status' : undefined}
    >
      <Text c="dimmed" ta="center">
        {t.filters.none({ many })} {t.filters.remove}
      </Text>
      <div className="no-matches">
        {shown.map(({ key, filter, condition }) => (
          <Button
            key={key}
            variant="default"
            maw="100%"
            rightSection={<XIcon size={12} />}
            onClick={() => view.filter(changeOf(filter, condition, null))}
          >
            <span className="one-line">
              <FilterSentence filter={filter} condition={condition} />
            </span>
          </Button>
        ))}
        {view.search && !filters.some(({ name }) => name === 'search') && (
          <Button variant="default" rightSection={<XIcon size={12} />} onClick={() => view.setSearch('')}>
            {t.app.search}: {view.search}
          </Button>
        )}
      </div>
    </Stack>
  )
}
