import type { RecordOf } from '../../api/record-api.ts'
import { useFormats } from '../../app/formats.ts'
import { useSession } from '../../app/session.ts'
import { place, type Texts, useTexts } from '../../texts/texts.ts'
import { visible } from '../../ui/visible.ts'

export type Authored = Pick<RecordOf<'contacts'>, 'created_at' | 'updated_at' | 'created_by' | 'updated_by'>
type Author = NonNullable<Authored['created_by']>

const week_ms = 7 * 24 * 3600 * 1000

/** The authors of a record, its maker and its last editor, in one quiet sentence. */
export function Authors({ created_at, updated_at, created_by, updated_by }: Authored) {
  const t = useTexts()
  const by = useByWhom()
  const [creator, editor] = [by(created_by), by(updated_by)]
  const { added_at, added_at_by, changed_at, changed_at_by } = t.record
  return (
    <p className="record-authors hint">
      <Part
        at={created_at}
        sentence={(when) => (creator ? added_at_by({ when, by: creator }) : added_at({ when }))}
      />
      {updated_at !== created_at && (
        <>
          ,{' '}
          <Part
            at={updated_at}
            sentence={(when) => (editor ? changed_at_by({ when, by: editor }) : changed_at({ when }))}
          />
        </>
      )}
    </p>
  )
}

/** A part of the sentence, with its time as an element: relative within a week, else the day. */
function Part({ at, sentence }: { at: string; sentence: (when: string) => string }) {
  const t = useTexts()
  const formats = useFormats()
  const [before, after] = sentence(place).split(place)
  const recent = Math.abs(Date.now() - Date.parse(at)) < week_ms
  return (
    <>
      {before}
      <time dateTime={at} title={formats.exact(at)}>
        {recent ? formats.relative(at) : t.record.on_day({ day: formats.day(at) })}
      </time>
      {after}
    </>
  )
}

/** " by" and the author; null where nobody is known. */
export function useBy(): (author: Author | null | undefined) => string | null {
  const byWhom = useByWhom()
  return (author) => {
    const by = byWhom(author)
    return by && ` ${by}`
  }
}

function useByWhom(): (author: Author | null | undefined) => string | null {
  const t = useTexts()
  const { user } = useSession()
  return (author) => (author ? byWhom(author, user.id, t) : null)
}

/** A deleted account has no name. */
function byWhom({ kind, id, name }: Author, self: string, { record }: Texts): string {
  if (kind === 'person' && id === self) return record.by_you
  return name === null ? record.by_kinds[kind] : record.by({ who: visible(name) })
}
