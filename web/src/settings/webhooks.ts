import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../api/client.ts'

/** What a webhook is called: its name, else the host of its address. */
export function webhookName({ name, url }: Pick<Schemas['Webhook'], 'name' | 'url'>): string {
  return name || (URL.canParse(url) ? new URL(url).host : url)
}

/** The newest hundred webhooks, for names and choices. */
export function useWebhooks() {
  return useQuery({
    queryKey: ['webhooks', 'choices'],
    queryFn: () => dataOf(api.GET('/api/v1/webhooks', { params: { query: { per_page: 100 } } })),
    staleTime: 30_000,
  })
}
