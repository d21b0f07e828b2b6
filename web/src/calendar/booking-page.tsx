import { Button } from '@mantine/core'
import { LinkExternalIcon, TrashIcon } from '@primer/octicons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { changeSince } from '../api/change-since.ts'
import { Problem } from '../api/client.ts'
import type { ChangesOf } from '../api/record-api.ts'
import { useCommands } from '../app/commands.ts'
import { draftKey, keepDraft, readDraft } from '../app/drafts.ts'
import { Link } from '../app/link.ts'
import { fieldMessage, ProblemNote } from '../app/problems.tsx'
import { useMay, useSession } from '../app/session.ts'
import { type RecordProps, useNames } from '../record/kinds.ts'
import { askWhose } from '../record/page/conflicts.ts'
import { ReadRecord } from '../record/page/record-page.tsx'
import { useRefreshAfter } from '../record/refresh.ts'
import { useToTrash } from '../record/to-trash.ts'
import { useTexts } from '../texts/with-booking.ts'
import { CopyButton } from '../ui/copy.tsx'
import { focusWrong, keepFocus } from '../ui/focus.ts'
import { withoutEntries } from '../ui/list-problems.ts'
import { Page } from '../ui/page.tsx'
import { PageAction } from '../ui/page-action.tsx'
import { showMessage } from '../ui/undo.tsx'
import { written } from '../ui/written.ts'
import { type BookingPage, bodyOf, type Draft, draftOf, publicAddress } from './booking.ts'
import { BookingFields } from './booking-fields.tsx'
import { BookingPreview } from './booking-preview.tsx'
import type { Problems } from './hours-editor.tsx'
import { bookingPagesApi } from './kind.ts'
import './booking.css'

/** A booking page: the editor on the left, the public page on the right. */
export const BookingPageRecord = ({ id, onLeave }: RecordProps) => (
  <ReadRecord query={bookingPagesApi.query(id)}>
    {(page) => <Editor key={id} page={page} onLeave={onLeave} />}
  </ReadRecord>
)

/** Unsaved changes of a page, in the tab's session storage: they survive navigation and a reload. */
function useWritten(page_id: number) {
  const { workspace, user } = useSession()
  const key = draftKey(workspace.id, user.id, `booking-page-${page_id}`)
  const [fields, setFields] = useState((): Partial<Draft> => JSON.parse(readDraft(key) || '{}'))
  useEffect(() => keepDraft(key, Object.keys(fields).length ? JSON.stringify(fields) : ''), [key, fields])
  return [fields, setFields] as const
}

function Editor({ page, onLeave }: { page: BookingPage; onLeave: () => unknown }) {
  const t = useTexts()
  const names = useNames('booking_pages')
  const may = useMay()('booking_pages:write')
  const client = useQueryClient()
  const refresh = useRefreshAfter('booking_pages')
  const toTrash = useToTrash()
  const [fields, setFields] = useWritten(page.id)
  const [problems, setProblems] = useState<Problems>({})
  const [problem, setProblem] = useState<unknown>(null)
  const [sending, setSending] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const saves = useRef<HTMLButtonElement>(null)
  // Changes of other people show in untouched fields. Only edited fields are sent.
  const saved = draftOf(page)
  const draft = { ...saved, ...fields }
  const changes = written(draft, saved)
  const changed = Object.keys(changes).length > 0
  // The page as it was when the first change was written.
  const base = useRef(page)
  if (!changed) base.current = page

  async function save() {
    if (!changed || sending) return
    setSending(true)
    setProblem(null)
    setProblems({})
    try {
      const body = bodyOf(changes) as ChangesOf<'booking_pages'>
      const now = await changeSince('booking_pages', base.current, body, askWhose)
      // Text that was typed meanwhile stays.
      setFields((fields) => written(fields, changes))
      client.setQueryData(bookingPagesApi.query(page.id).queryKey, now)
      showMessage(t.booking.saved_page)
      await refresh()
      // The button is disabled.
      keepFocus()
    } catch (error) {
      const fields = error instanceof Problem ? error.fields : []
      // At once, so that an invalid field can get the focus.
      flushSync(() => {
        setProblems(Object.fromEntries(fields.map((one) => [one.field, fieldMessage(one, t)])))
        if (!fields.length) setProblem(error)
        setSending(false)
      })
      if (form.current) focusWrong(form.current, saves.current)
    } finally {
      setSending(false)
    }
  }
  function revert() {
    setFields({})
    setProblems({})
    setProblem(null)
    // The button unmounts.
    keepFocus()
  }
  const remove = () => toTrash({ kind: 'booking_pages', id: page.id, name: page.title, leave: onLeave })
  useCommands(
    [
      { id: 'save-booking-page', label: t.booking.save_page, group: 'actions', keys: 'mod+s', run: save },
      { id: 'delete-booking-page', label: names.delete, group: 'actions', run: remove },
    ],
    may,
  )
  return (
    <Page
      title={page.title}
      middle={
        <>
          <Button variant="subtle" color="gray" component={Link} to="/booking-pages">
            {names.many}
          </Button>
          <CopyButton value={publicAddress(page.slug)} label={t.booking.copy_address} />
          {page.active && (
            <Button
              variant="default"
              component="a"
              href={`/book/${page.slug}`}
              target="_blank"
              rel="noreferrer"
              leftSection={<LinkExternalIcon size={14} />}
            >
              {t.booking.open_public}
            </Button>
          )}
        </>
      }
      actions={
        may && (
          <>
            {changed && (
              <>
                <span className="hint">{t.booking.unsaved}</span>
                <Button variant="default" onClick={revert}>
                  {t.booking.revert}
                </Button>
              </>
            )}
            <Button ref={saves} onClick={save} loading={sending} disabled={!changed}>
              {t.booking.save_page}
            </Button>
            <PageAction label={names.delete} icon={TrashIcon} onClick={remove} />
          </>
        )
      }
    >
      <div className="booking">
        <form
          ref={form}
          noValidate
          className="booking-editor"
          // If no field can be focused, the form itself must scroll by keyboard.
          {...(!may && { tabIndex: 0 })}
          onSubmit={(event) => {
            event.preventDefault()
            save()
          }}
        >
          {problem ? <ProblemNote error={problem} /> : null}
          <fieldset disabled={!may} className="booking-all">
            <BookingFields
              draft={draft}
              problems={problems}
              onChange={(more) => {
                setFields((fields) => written({ ...saved, ...fields, ...more }, saved))
                const lists = (['hosts', 'questions'] as const).filter(
                  (list) => more[list] && more[list].length !== draft[list].length,
                )
                setProblems((all) => lists.reduce<Problems>(withoutEntries, all))
              }}
            />
          </fieldset>
        </form>
        <BookingPreview page={page} />
      </div>
    </Page>
  )
}
