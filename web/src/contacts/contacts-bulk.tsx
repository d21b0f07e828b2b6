import { TextInput } from '@mantine/core'
import { MilestoneIcon, TagIcon } from '@primer/octicons-react'
import type { RowOf } from '../api/record-api.ts'
import { useBulk } from '../record/bulk.tsx'
import { BulkText } from '../record/bulk-text.tsx'
import { useLabels } from '../record/kinds.ts'
import { useTexts } from '../texts/texts.ts'
import { fullName } from '../ui/full-name.ts'
import type { ListPage } from '../ui/list-page.tsx'
import { contactsApi } from './kind.ts'
import { StageInput } from './stage-input.tsx'

/** The bulk actions on contacts beside deleting, each with one Undo. */
export function ContactsBulk({ act }: Pick<ListPage<RowOf<'contacts'>>, 'act'>) {
  const t = useTexts()
  const bulk = useBulk()
  const labelOf = useLabels('contacts')
  const shared = { kind: 'contacts', nameOf: fullName } as const
  const setStage = (text: string) =>
    act((items) =>
      bulk({
        ...shared,
        items,
        work: ({ id }) => contactsApi.change(id, { stage: text || null }),
        undo: ({ id, stage }) => contactsApi.change(id, { stage }),
        message: (n) => (text ? t.contacts.stage_set(n, text) : t.contacts.stage_cleared(n)),
      }),
    )
  const setTag = (tag: string, wanted: boolean) =>
    act((items) => {
      // Undo skips contacts whose tags did not change.
      const changed = new Set<number>()
      return bulk({
        ...shared,
        items,
        work: async ({ id }) => void ((await contactsApi.changeTag(id, tag, wanted)) && changed.add(id)),
        undo: async ({ id }) => void (changed.has(id) && (await contactsApi.changeTag(id, tag, !wanted))),
        message: (n) => (wanted ? t.contacts.tag_added(n, tag) : t.contacts.tag_removed(n, tag)),
      })
    })
  const tagInput = (given: {
    label: string
    value: string
    onChange: (value: string) => void
    size: 'xs'
    'data-autofocus': true
  }) => (
    <TextInput
      {...given}
      label={labelOf('tag')}
      maxLength={64}
      onChange={(event) => given.onChange(event.currentTarget.value)}
    />
  )
  return (
    <>
      <BulkText
        label={t.contacts.set_stage}
        icon={<MilestoneIcon size={14} />}
        may_be_empty
        onApply={setStage}
      >
        {(given) => (
          <StageInput {...given} label={labelOf('stage')} comboboxProps={{ withinPortal: false }} />
        )}
      </BulkText>
      <BulkText label={t.record.add_tag} icon={<TagIcon size={14} />} onApply={(tag) => setTag(tag, true)}>
        {tagInput}
      </BulkText>
      <BulkText
        label={t.contacts.remove_tag}
        icon={<TagIcon size={14} />}
        onApply={(tag) => setTag(tag, false)}
      >
        {tagInput}
      </BulkText>
    </>
  )
}
