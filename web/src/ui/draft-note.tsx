import { Button } from '@mantine/core'
import { place, useTexts } from '../texts/texts.ts'

type Props = {
  /** The stored text, if the draft began with another one. */
  now?: React.ReactNode
  onDiscard: () => void
}

/** Says that a draft was restored, and discards it. */
export function DraftNote({ now, onDiscard }: Props) {
  const t = useTexts()
  const [before, after] = t.app.draft_now({ value: place }).split(place)
  return (
    <span className="draft-note hint">
      <span role="status">{t.app.draft_restored}</span>
      {now !== undefined && (
        <>
          {' · '}
          {before}
          {now}
          {after}
        </>
      )}
      <Button
        size="compact-sm"
        variant="subtle"
        color="gray"
        data-discard
        aria-label={t.app.discard_draft}
        // The field keeps the focus, so that it saves nothing.
        onMouseDown={(event) => event.preventDefault()}
        onClick={onDiscard}
      >
        {t.app.discard}
      </Button>
    </span>
  )
}
