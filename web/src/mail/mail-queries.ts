import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../api/client.ts'

export type MailDetail = Schemas['MailDetail']

/** The state of the SMTP server. */
export const useMailServer = () =>
  useQuery({
    queryKey: ['mails', 'server'],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/mails/server', { signal })),
  })

/** A mail. Polls while it is pending. */
export const useMail = (id: string) =>
  useQuery({
    queryKey: ['mails', 'one', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/mails/{mail_id}', { signal, params: { path: { mail_id: id } } })),
    refetchInterval: ({ state: { data } }) => data?.status === 'pending' && 2000,
  })
