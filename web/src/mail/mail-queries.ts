import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../api/client.ts'

export type MailDetail = Schemas['MailDetail']

/** How often the log and the state of the server are read. */
export const often_ms = 5000

/** The state of the SMTP server. */
export const useMailServer = () =>
  useQuery({
    queryKey: ['mails', 'server'],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/mails/server', { signal })),
    refetchInterval: often_ms,
  })

/** A mail. Polls while it is pending. */
export const useMail = (id: string) =>
  useQuery({
    queryKey: ['mails', 'one', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/mails/{mail_id}', { signal, params: { path: { mail_id: id } } })),
    refetchInterval: ({ state: { data } }) => data?.status === 'pending' && 2000,
  })
