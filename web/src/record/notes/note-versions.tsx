import { Button, Skeleton } from '@mantine/core'
import { noteApi } from '../../api/note-api.ts'
import type { Noted } from '../../api/note-kinds.ts'
import { ProblemNote } from '../../app/problems.tsx'
import { useTexts } from '../../texts/texts.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Ago } from '../../ui/values.tsx'
import { visible } from '../../ui/visible.ts'
import { useBy } from '../page/authors.tsx'
import { usePages } from '../pages.ts'
import { diffTexts } from './text-diff.ts'

type Owner = { kind: Noted; id: number }
type Props = { owner: Owner; note_id: number; opened: boolean; onClose: () => void }

/** The dialog with the texts of a note. */
export function NoteVersions({ owner, note_id, opened, onClose }: Props) {
  const t = useTexts()
  return (
    <Dialog opened={opened} onClose={onClose} title={t.record.note_history} size="lg">
      <Versions owner={owner} note_id={note_id} />
    </Dialog>
  )
}

/** The texts of a note, newest first, each with what changed since the one before. */
function Versions({ owner: { kind, id }, note_id }: { owner: Owner; note_id: number }) {
  const t = useTexts()
  const by = useBy()
  const { data, error, refetch, more, loading_more, readMore } = usePages({
    queryKey: ['notes', kind, id, 'history', note_id],
    read: (cursor, _, signal) => noteApi(kind, id).history(note_id, cursor, signal),
  })
  if (error && !data) return <ProblemNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton height={56} role="status" aria-busy aria-label={t.app.loading} />
  const versions = data.pages.flatMap((page) => page.data)
  return (
    <>
      <ol className="versions" aria-label={t.record.note_history}>
        {versions.map(({ body, written_at, written_by }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the newest is the first
          <li key={index}>
            <p className="hint">
              {index === 0 && `${t.record.note_now} · `}
              {written_at ? (
                <>
                  <Ago at={written_at} />
                  {by(written_by)}
                </>
              ) : (
                t.record.note_unknown
              )}
            </p>
            <div className="note-text">
              <Changed before={versions[index + 1]?.body ?? body} after={body} />
            </div>
          </li>
        ))}
      </ol>
      {more && (
        <Button variant="default" mt="md" loading={loading_more} onClick={readMore}>
          {t.app.show_more}
        </Button>
      )}
    </>
  )
}

/** A text with the words that it lost and gained. */
function Changed({ before, after }: { before: string; after: string }) {
  return diffTexts(before, after).map(({ of, text }, index) => {
    const Tag = of === 'both' ? 'span' : of === 'before' ? 'del' : 'ins'
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have nothing but their position
    return <Tag key={index}>{visible(text)}</Tag>
  })
}
