import { Button } from '@mantine/core'
import { useTexts } from '../texts/texts.ts'

type Props = {
  /** What is stored now, if it is not what the draft began with. */
  now?: string | undefined
  onDiscard: () => void
}

/** Says that a draft was restored, and discards it. */
export function DraftNote({ now, onDiscard }: Props) {
  const t = useTexts()
  return (
    <span className="draft-note hint">
      <span role="status">{t.app.draft_restored}</span>
      {now !== undefined && ` · ${t.app.draft_now({ value: now })}`}
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
