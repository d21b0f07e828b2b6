import { useMemo } from 'react'
import { useSession } from '../app/session.ts'
import { visible } from '../ui/visible.ts'
import { useMentionable } from './mentionable.ts'
import { mentionPattern } from './mentions.ts'
import './mentions.css'

/** The text of a note. The mentions of members stand out, those of the person most. */
export function MentionText({ text }: { text: string }) {
  const { user } = useSession()
  const members = useMentionable()
  const pattern = useMemo(() => mentionPattern(members), [members])
  if (!pattern || !text.includes('@')) return visible(text)
  const own = [user.name.trim(), user.email].map((label) => `@${label}`.toLowerCase())
  // Every second part is a mention.
  return text.split(pattern).map((part, index) =>
    index % 2 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have nothing but their position
      <span key={index} className="mention" data-own={own.includes(part.toLowerCase()) || undefined}>
        {visible(part)}
      </span>
    ) : (
      visible(part)
    ),
  )
}
