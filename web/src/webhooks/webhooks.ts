import { useQuery } from '@tanstack/react-query'
import { allOf } from '../api/all.ts'
import { answerOf, api, type Schemas } from '../api/client.ts'

/** The name of a webhook, else the host of its URL. */
export function webhookName({ name, url }: Pick<Schemas['Webhook'], 'name' | 'url'>): string {
  return name || (URL.canParse(url) ? new URL(url).host : url)
}

/** All webhooks, for names and choices. */
export function useWebhooks() {
  return useQuery({
    queryKey: ['webhooks', 'choices'],
    queryFn: ({ signal }) =>
      allOf((query) => answerOf(api.GET('/api/v1/webhooks', { params: { query }, signal }))),
    staleTime: 30_000,
  })
}
