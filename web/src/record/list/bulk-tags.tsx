import { TextInput } from '@mantine/core'
import { TagIcon } from '@primer/octicons-react'
import { useTexts } from '../../texts/texts.ts'
import type { ListPage } from '../../ui/list-page.tsx'
import { visible } from '../../ui/visible.ts'
import { type OwnedKind, useNames } from '../kinds.ts'
import { useBulk } from './bulk.tsx'
import { BulkText } from './bulk-text.tsx'

type Props<Row extends { id: number }> = Pick<ListPage<Row>, 'act'> & {
  kind: OwnedKind
  nameOf: (row: Row) => string
}

/** The bulk actions that add and remove a tag, each with one Undo. */
export function BulkTags<Row extends { id: number }>({ kind, act, nameOf }: Props<Row>) {
  const t = useTexts()
  const bulk = useBulk()
  const names = useNames(kind)
  const setTag = (tag: string, wanted: boolean) => {
    const [adds, removes] = [{ add_tags: [tag] }, { remove_tags: [tag] }]
    return act((items) =>
      bulk({
        kind,
        items,
        nameOf,
        work: wanted ? adds : removes,
        undo: wanted ? removes : adds,
        message: (n) =>
          t.record[wanted ? 'tag_added' : 'tag_removed']({ tag: visible(tag), what: names.counted({ n }) }),
      }),
    )
  }
  return [true, false].map((wanted) => (
    <BulkText
      key={String(wanted)}
      label={wanted ? t.record.add_tag : t.record.remove_a_tag}
      icon={<TagIcon size={14} />}
      onApply={(tag) => setTag(tag, wanted)}
    >
      {(given) => (
        <TextInput
          {...given}
          label={t.fields.tag}
          maxLength={64}
          onChange={(event) => given.onChange(event.currentTarget.value)}
        />
      )}
    </BulkText>
  ))
}
