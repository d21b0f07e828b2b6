import { useSession } from '../../app/session.ts'
import { visible } from '../../ui/visible.ts'
import { useMentionable } from './mentionable.ts'
import { mentionedBy, splitMentions } from './mentions.ts'
import './mentions.css'

/** The text of a note. The mentions of members stand out, those of the person most. */
export function MentionText({ text }: { text: string }) {
  const { user } = useSession()
  const members = useMentionable()
  if (!text.includes('@')) return visible(text)
  // Every second part is a mention.
  return splitMentions(text, members).map((part, index) => {
    if (index % 2 === 0) return visible(part)
    const { found, former } = mentionedBy(part.slice(1), members)
    return (
      <span
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have nothing but their position
        key={index}
        className="mention"
        data-own={found.some(({ id }) => id === user.id) || undefined}
        title={former ? found.map(({ name }) => visible(name)).join(', ') : undefined}
      >
        {visible(part)}
      </span>
    )
  })
}
