import { ActionIcon, Button, Group, Skeleton } from '@mantine/core'
import { PencilIcon, TrashIcon } from '@primer/octicons-react'
import { useEffect, useRef, useState } from 'react'
import { type Note, noteApi } from '../../api/note-api.ts'
import type { Noted } from '../../api/note-kinds.ts'
import { isGone } from '../../api/problem.ts'
import { isStale } from '../../api/record-api.ts'
import { draftKey, keepDraft, readDraft } from '../../app/drafts.ts'
import { Keys } from '../../app/keys.tsx'
import { explain, ProblemNote, showProblem } from '../../app/problems.tsx'
import { useMay, useSession } from '../../app/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { focusBeside, useFocusBack } from '../../ui/focus.ts'
import { useAddress } from '../../ui/list-view.ts'
import { oneClick } from '../../ui/one-press.ts'
import { offerUndo } from '../../ui/undo.tsx'
import { Ago, Soft } from '../../ui/values.tsx'
import { useChangedMeanwhile } from '../fields/changes.tsx'
import { useBy } from '../page/authors.tsx'
import { usePages } from '../pages.ts'
import { useRefresh } from '../refresh.ts'
import { MentionInput } from './mention-input.tsx'
import { MentionText } from './mention-text.tsx'
import { NoteEdited } from './note-history.tsx'
import './notes.css'

/** The notes on a record, newest first, below the form for the next one. */
export function Notes({ kind, id }: { kind: Noted; id: number }) {
  const t = useTexts()
  const refresh = useRefresh()
  const writes = useMay()(`${kind}:write`)
  const { workspace, user } = useSession()
  const draft_key = draftKey(workspace.id, user.id, `notes-${kind}-${id}`)
  const notes_of = noteApi(kind, id)
  // The service sends at most 7 MiB of notes in one answer.
  const { data, error, refetch, more, loading_more, readMore } = usePages({
    queryKey: ['notes', kind, id],
    read: (cursor, _, signal) => notes_of.list(cursor, signal),
  })
  const notes = data?.pages.flatMap((page) => page.data)
  const keyOf = (note_id: number) => `${draft_key}-${note_id}`
  useLostEdits(notes, keyOf, notes_of.read)
  const again = () => refresh('notes', 'timeline')
  const create = async (body: string) => {
    await notes_of.create(body)
    // The next note need not wait for the list.
    again()
    return true
  }
  return (
    <>
      {writes && <NoteForm key={draft_key} draft_key={draft_key} onSave={create} />}
      {error && <ProblemNote error={error} onRetry={() => refetch()} />}
      {!notes && !error && <Skeleton height={56} />}
      {notes?.length === 0 && <Soft>{t.app.no_notes}</Soft>}
      <ul className="notes" aria-label={t.fields.notes}>
        {notes?.map((note) => (
          <NoteItem
            key={note.id}
            draft_key={keyOf(note.id)}
            note={note}
            owner={{ kind, id }}
            notes_of={notes_of}
            writes={writes}
            onChanged={again}
          />
        ))}
      </ul>
      {more && (
        <Button variant="default" loading={loading_more} onClick={readMore}>
          {t.app.show_more}
        </Button>
      )}
    </>
  )
}

/** Tells the text of an edit whose note somebody else has deleted meanwhile. */
function useLostEdits(
  notes: Note[] | undefined,
  keyOf: (note_id: number) => string,
  read: (note_id: number) => Promise<unknown>,
) {
  const t = useTexts()
  const shown = useRef<number[]>([])
  useEffect(() => {
    if (!notes) return
    const now = new Set(notes.map(({ id }) => id))
    for (const id of shown.current) {
      const value = now.has(id) ? '' : readDraft(keyOf(id))
      // A new note can also move it to a page that is not read.
      if (value)
        read(id).catch((error) => {
          const why = explain(error, t)
          if (isGone(error)) showProblem(null, t, t.app.not_saved({ label: t.app.note, value, why }))
          // The next list asks again.
          else shown.current.push(id)
        })
    }
    shown.current = [...now]
  })
}

type FormProps = {
  initial?: string
  /** The key of the draft. */
  draft_key: string
  /** `shown` is the stored text that the person has seen last. Resolves to false if another text is stored. */
  onSave: (body: string, shown: string) => Promise<boolean>
  onCancel?: () => void
  /** Shown while the stored text differs from the one at the beginning. */
  changed?: React.ReactNode
}

/** Stores an unsaved text with the stored text from which it began. */
function keepEdit(key: string, text: string, began: string) {
  // The oldest drafts are deleted first. A text without its beginning counts as changed by somebody else.
  keepDraft(beganKey(key), text && began)
  keepDraft(key, text)
}
const beganKey = (key: string) => `${key}-began`

/** The form of a note. Unsaved text survives a failed save and a change of tab or page. */
function NoteForm({ initial = '', draft_key, onSave, onCancel, changed }: FormProps) {
  const t = useTexts()
  const [draft] = useState(() => readDraft(draft_key))
  const [text, setText] = useState(draft || initial)
  const [began] = useState(() => (draft ? readDraft(beganKey(draft_key)) : initial))
  const latest = useRef(text)
  const input = useRef<HTMLTextAreaElement>(null)
  const [saving, setSaving] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const editing = onCancel !== undefined
  // A save whose answer was lost has stored the text.
  const is_changed = editing && !saving && initial !== began && initial !== text
  function write(text: string) {
    latest.current = text
    setText(text)
    keepEdit(draft_key, text === initial ? '' : text, began)
  }
  async function save() {
    if (!text.trim() || saving) return
    setSaving(true)
    setProblem(null)
    // The form is free for the next note at once. Its button is disabled while it is empty.
    if (!editing) write('')
    input.current?.focus()
    // If the form has gone with its page, its text is a draft.
    function tell(error: unknown, why: string) {
      if (!input.current) showProblem(error, t, t.app.not_saved({ label: t.app.note, value: text, why }))
    }
    try {
      const is_stored = await onSave(text, initial)
      if (!is_stored) tell(null, t.app.problems.precondition_failed)
    } catch (error) {
      const why = explain(error, t)
      setProblem(why)
      tell(error, why)
      if (!editing) write([text, latest.current].filter(Boolean).join('\n'))
    } finally {
      setSaving(false)
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <MentionInput
        minRows={2}
        maxRows={16}
        aria-label={editing ? t.record.edit_note : t.app.keys.note}
        placeholder={t.app.note_placeholder}
        input={input}
        value={text}
        error={problem}
        readOnly={editing && saving}
        autoFocus={editing && !draft}
        data-tab-focus={editing ? undefined : true}
        onChange={write}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
            event.preventDefault()
            save()
          }
          if (event.key !== 'Escape') return
          event.stopPropagation()
          if (onCancel) onCancel()
          else event.currentTarget.blur()
        }}
      />
      {is_changed && changed}
      <Group gap="sm" mt="xs" mb="md">
        <Button type="submit" loading={saving} disabled={!text.trim()} variant={editing ? 'filled' : 'light'}>
          {is_changed ? t.record.use_mine : t.record.save_note}
        </Button>
        {editing && (
          <Button variant="default" onClick={onCancel}>
            {is_changed ? t.record.keep_theirs : t.app.cancel}
          </Button>
        )}
        <span className="note-keys">
          <Soft>
            <Keys keys="mod+Enter" /> {t.record.note_keys}
          </Soft>
        </span>
      </Group>
    </form>
  )
}

/** Whether the address is that of this note, as a notification links to it. The note then gets the focus. */
function useMeant(id: number) {
  const { address } = useAddress()
  const is_meant = address.note === String(id)
  const meant = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!is_meant) return
    // After the page, which takes the focus when it is new.
    requestAnimationFrame(() => {
      meant.current?.focus({ preventScroll: true })
      meant.current?.scrollIntoView({ block: 'center' })
    })
  }, [is_meant])
  return { is_meant, meant }
}

/** The text that somebody has stored while this person edits the note. */
function Meanwhile({ note }: { note: Note }) {
  const sentence = useChangedMeanwhile()
  return (
    <div role="status">
      <p className="hint">{sentence(note.updated_by, note.updated_at)}</p>
      <div className="note-text">
        <MentionText text={note.body} />
      </div>
    </div>
  )
}

type ItemProps = {
  note: Note
  owner: { kind: Noted; id: number }
  notes_of: ReturnType<typeof noteApi>
  writes: boolean
  draft_key: string
  onChanged: () => Promise<unknown>
}

function NoteItem({ note, owner, notes_of, writes, draft_key, onChanged }: ItemProps) {
  const t = useTexts()
  const by = useBy()
  const [editing, setEditing] = useState(() => writes && readDraft(draft_key) !== '')
  const { is_meant, meant } = useMeant(note.id)
  const button = useRef<HTMLButtonElement>(null)
  useFocusBack(editing, button)
  function end() {
    keepEdit(draft_key, '', '')
    setEditing(false)
  }
  async function change(body: string, shown: string) {
    let done = false
    try {
      const now = await notes_of.read(note.id)
      done = now.body === shown
      if (done) await notes_of.change(note.id, body, now.etag)
    } catch (error) {
      if (!isStale(error)) throw error
      done = false
    }
    await onChanged()
    if (done) end()
    return done
  }
  async function remove() {
    try {
      await notes_of.remove(note.id)
      await onChanged()
      offerUndo(t, t.app.deleted({ what: t.app.note }), async () => {
        await notes_of.restore(note.id)
        await onChanged()
      })
    } catch (error) {
      showProblem(error, t)
    }
  }
  if (editing)
    return (
      <li ref={focusBeside}>
        <NoteForm
          initial={note.body}
          draft_key={draft_key}
          onSave={change}
          onCancel={end}
          changed={<Meanwhile note={note} />}
        />
      </li>
    )
  return (
    <li ref={focusBeside}>
      <div ref={meant} className="note-text" tabIndex={is_meant ? -1 : undefined}>
        <MentionText text={note.body} />
      </div>
      <div className="note-line">
        <span>
          <Ago at={note.created_at} />
          {by(note.created_by)}
          <NoteEdited note={note} owner={owner} />
        </span>
        {writes && (
          <>
            <ActionIcon ref={button} aria-label={t.record.edit_note} onClick={() => setEditing(true)}>
              <PencilIcon size={14} />
            </ActionIcon>
            <ActionIcon aria-label={t.record.delete_note} onClick={oneClick(remove)}>
              <TrashIcon size={14} />
            </ActionIcon>
          </>
        )}
      </div>
    </li>
  )
}
