import { draftKey } from './drafts.ts'
import { useSession } from './session.ts'

/** The key of a draft of this person in this workspace; null without a name. */
export function useDraftKey(name: string | undefined): string | null {
  const { workspace, user } = useSession()
  return name === undefined ? null : draftKey(workspace.id, user.id, encodeURIComponent(name))
}
