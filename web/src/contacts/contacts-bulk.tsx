import { TextInput } from '@mantine/core'
import { MilestoneIcon, TagIcon } from '@primer/octicons-react'
import { useBulk } from '../record/bulk.tsx'
import { BulkText } from '../record/bulk-text.tsx'
import { fullName } from '../record/choices.ts'
import { useTexts } from '../texts/texts.ts'
import type { ListPage } from '../ui/list-page.tsx'
import { changeContact, changeTag, type ListedContact, touched } from './contacts.ts'
import { StageInput } from './stage-input.tsx'

/** What can be done with the selected contacts beside deleting; each has one Undo for all. */
export function ContactsBulk({ act }: Pick<ListPage<ListedContact>, 'act'>) {
  const t = useTexts()
  const bulk = useBulk()
  const shared = { nameOf: fullName, refresh: touched }
  const setStage = (text: string) =>
    act((items) =>
      bulk({
        ...{ ...shared, items },
        work: ({ id }) => changeContact(id, { stage: text || null }),
        undo: ({ id, stage }) => changeContact(id, { stage }),
        message: (n) => (text ? t.contacts.stage_set(n, text) : t.contacts.stage_cleared(n)),
      }),
    )
  const setTag = (tag: string, wanted: boolean) =>
    act((items) => {
      // Who had the tag already, or had it not, keeps it so when it is taken back.
      const changed = new Set<number>()
      return bulk({
        ...{ ...shared, items },
        work: async ({ id }) => void ((await changeTag(id, tag, wanted)) && changed.add(id)),
        undo: async ({ id }) => void (changed.has(id) && (await changeTag(id, tag, !wanted))),
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
      label={t.contacts.tag}
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
          <StageInput {...given} label={t.contacts.stage} comboboxProps={{ withinPortal: false }} />
        )}
      </BulkText>
      <BulkText label={t.contacts.add_tag} icon={<TagIcon size={14} />} onApply={(tag) => setTag(tag, true)}>
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
