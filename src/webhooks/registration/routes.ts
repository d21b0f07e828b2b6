import { endpoints } from '../../http/endpoints.ts'
import { ListQuery } from '../../http/fields.ts'
import { cursor, pagesBy } from '../../http/lists.ts'
import type { App } from '../../http/server.ts'
import type { WebhookService } from '../service.ts'
import { findWebhook, listWebhooks } from './queries.ts'
import { Webhook, WebhookCreated, webhookBodies } from './schema.ts'
import { changeWebhook, deleteWebhook, registerWebhook, urlProblems, webhook_kind } from './webhooks.ts'

/** Registration of webhooks, and reading, changing and deleting them. */
export function webhookRoutes(app: App, service: WebhookService): void {
  const { db, reading, policy, event_names, rights, dispatcher } = service
  const { WebhookCreate, WebhookUpdate } = webhookBodies(event_names)
  const webhooks = endpoints(app, service, webhook_kind)

  webhooks.create(
    {
      summary: 'Register a webhook',
      description:
        'Each event needs the scope that reads its kind, such as `contacts:read` for `contact.*` (403). 409 above `MAX_WEBHOOKS` (100) webhooks of the workspace.',
      body: WebhookCreate,
      view: WebhookCreated,
      extension: false,
      prepare: ({ body }) => urlProblems(policy, body),
    },
    (tx, context, sent) => registerWebhook(tx, context, service, sent),
  )

  webhooks.list(
    {
      summary: 'List webhooks',
      query: ListQuery({ cursor }),
      view: Webhook,
      pages: pagesBy('-seq of webhooks', 'number'),
    },
    ({ access }, { page }) => reading((db) => listWebhooks(db, access.workspace_id, page)),
  )

  webhooks.read({ summary: 'Read a webhook', view: Webhook }, ({ access, params }) =>
    findWebhook(db, access.workspace_id, params.webhook_id),
  )

  webhooks.change(
    {
      summary: 'Change a webhook',
      body: WebhookUpdate,
      view: Webhook,
      prepare: ({ body }) => urlProblems(policy, body),
    },
    async (tx, context, sent) => ({ record: await changeWebhook(tx, context, service, sent) }),
  )

  webhooks.remove(
    {
      summary: 'Delete a webhook and cancel its pending deliveries',
      // Again, for deliveries that were claimed before the commit.
      committed: ({ params }) => dispatcher.holdBack(params.webhook_id, 'all'),
    },
    async (tx, context, sent) => {
      await deleteWebhook(tx, context, rights, sent)
      dispatcher.holdBack(sent.params.webhook_id, 'all')
    },
  )
}
