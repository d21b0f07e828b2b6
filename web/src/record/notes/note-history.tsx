import { UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import type { Note } from '../../api/note-api.ts'
import type { Noted } from '../../api/note-kinds.ts'
import { laterDialog } from '../../app/contained.tsx'
import { useTexts } from '../../texts/texts.ts'
import { Ago } from '../../ui/values.tsx'
import { useBy } from '../page/authors.tsx'
import './note-history.css'

const NoteVersions = laterDialog(async () => (await import('./note-versions.tsx')).NoteVersions)

/** The record of a note. */
type Owner = { kind: Noted; id: number }
type Edited = Pick<Note, 'id' | 'created_at' | 'updated_at' | 'updated_by'>

/** Tells when a note was edited, by whom, and opens its earlier texts. Nothing for a note that was not edited. */
export function NoteEdited({ note, owner }: { note: Edited; owner: Owner }) {
  const t = useTexts()
  const by = useBy()
  const [opened, setOpened] = useState(false)
  if (note.updated_at === note.created_at) return null
  return (
    <>
      {' · '}
      <UnstyledButton
        className="note-edited"
        aria-haspopup="dialog"
        title={t.record.note_history}
        onClick={() => setOpened(true)}
      >
        {t.record.edited} <Ago at={note.updated_at} />
        {by(note.updated_by)}
      </UnstyledButton>
      <NoteVersions owner={owner} opened={opened} note_id={note.id} onClose={() => setOpened(false)} />
    </>
  )
}
