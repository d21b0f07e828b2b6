import { useMemo } from 'react'
import { useSession } from '../../app/session.ts'
import { useMembers } from '../fields/members.ts'

/** The members who can be mentioned: the others by name, and last the person, whom it notifies of nothing. */
export function useMentionable() {
  const { user } = useSession()
  const { members } = useMembers()
  return useMemo(() => {
    const self = members?.filter(({ id }) => id === user.id) ?? []
    return [...(members?.filter(({ id }) => id !== user.id) ?? []), ...self]
  }, [members, user.id])
}
