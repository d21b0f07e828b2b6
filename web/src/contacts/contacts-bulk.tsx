import { Button, TextInput } from '@mantine/core'
import { MilestoneIcon, TagIcon, TrashIcon } from '@primer/octicons-react'
import { useBulk } from '../record/bulk.tsx'
import { BulkText } from '../record/bulk-text.tsx'
import type { BulkActions } from '../record/record-list.tsx'
import { useTexts } from '../texts/texts.ts'
import {
  changeContact,
  changeTags,
  deleteContact,
  type ListedContact,
  restoreContact,
  touched,
} from './contacts.ts'
import { StageInput } from './stage-input.tsx'

/** What can be done with the selected contacts; each has one Undo for all. */
export function ContactsBulk({ rows, onDone, onLeave }: { rows: ListedContact[] } & BulkActions) {
  const t = useTexts()
  const bulk = useBulk()
  const start: typeof bulk = (work) => {
    onDone()
    return bulk(work)
  }
  const setStage = (text: string) =>
    start({
      items: rows,
      work: ({ id }) => changeContact(id, { stage: text || null }),
      undo: ({ id, stage }) => changeContact(id, { stage }),
      message: (n) => (text ? t.contacts.stage_set(n, text) : t.contacts.stage_cleared(n)),
      refresh: touched,
    })

  function tag(change: (tags: string[]) => string[], message: (n: number) => string) {
    const before = new Map<number, string[]>()
    return start({
      items: rows,
      work: async ({ id }) => void before.set(id, await changeTags(id, change)),
      undo: ({ id }) => changeContact(id, { tags: before.get(id) ?? [] }),
      message,
      refresh: touched,
    })
  }
  const addTag = (text: string) =>
    tag(
      (tags) => (tags.includes(text) ? tags : [...tags, text]),
      (n) => t.contacts.tag_added(n, text),
    )
  const removeTag = (text: string) =>
    tag(
      (tags) => tags.filter((one) => one !== text),
      (n) => t.contacts.tag_removed(n, text),
    )
  async function remove() {
    await onLeave()
    await start({
      items: rows,
      work: ({ id }) => deleteContact(id),
      undo: ({ id }) => restoreContact(id),
      message: t.contacts.deleted,
      refresh: touched,
    })
  }
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
      <BulkText label={t.contacts.add_tag} icon={<TagIcon size={14} />} onApply={addTag}>
        {tagInput}
      </BulkText>
      <BulkText label={t.contacts.remove_tag} icon={<TagIcon size={14} />} onApply={removeTag}>
        {tagInput}
      </BulkText>
      <Button variant="default" leftSection={<TrashIcon size={14} />} onClick={remove}>
        {t.app.delete}
      </Button>
    </>
  )
}
