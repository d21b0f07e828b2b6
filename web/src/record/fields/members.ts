import { queryOptions, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { allOf } from '../../api/all.ts'
import { answerOf, api } from '../../api/client.ts'
import { useMay, useSession } from '../../app/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { visible } from '../../ui/visible.ts'
import { choiceNameOf, orderedMembers } from './member-names.ts'

// Lists show the same people many times. A change of the members is read at once.
const kept_ms = 60_000

const membersQuery = queryOptions({
  queryKey: ['members', 'all'],
  queryFn: ({ signal }) =>
    allOf((query) => answerOf(api.GET('/api/v1/members', { params: { query }, signal }))),
  staleTime: kept_ms,
})

/** Whether the role may read the members. Without it, owners other than the person are not shown. */
export const useReadsMembers = (): boolean => useMay()('members:read')

const useMembersQuery = () => useQuery({ ...membersQuery, enabled: useReadsMembers() })

/** The names of owners, also of those who have left the workspace; undefined if a name is unknown. */
export function useOwnerName(): (id: string) => string | undefined {
  const t = useTexts()
  const { user } = useSession()
  const { data } = useMembersQuery()
  return useCallback(
    (id) => {
      if (id === user.id) return visible(user.name)
      return data && visible(data.find((one) => one.id === id)?.name ?? t.record.former_member)
    },
    [user, data, t],
  )
}

/** The members to choose from, the person first. Undefined while they are read. */
export function useMembers() {
  const t = useTexts()
  const { user } = useSession()
  const { data, error } = useMembersQuery()
  const members = useMemo(() => {
    const ordered = data && orderedMembers(data, user.id)
    return ordered?.map((one) => ({
      ...one,
      label: one.id === user.id ? t.record.yourself({ name: visible(one.name) }) : choiceNameOf(one, ordered),
    }))
  }, [data, user.id, t])
  return { members, error }
}
