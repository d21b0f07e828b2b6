import { useQuery } from '@tanstack/react-query'
import { answerOf, api } from '../api/client.ts'

/** The number of unread notifications of the person; 0 while it is not known. */
export function useUnreadCount(): number {
  const { data = 0 } = useQuery({
    queryKey: ['notifications', 'unread'],
    queryFn: async ({ signal }) => {
      const query = { unread: 'true' as const, per_page: 1 }
      const { meta } = await answerOf(api.GET('/api/v1/notifications', { params: { query }, signal }))
      return meta.unread
    },
  })
  return data
}

const most_shown = 99

/** The number as a badge shows it. */
export const shownCount = (count: number): string => (count > most_shown ? `${most_shown}+` : String(count))
