export { type BatchOptions, inBatches } from './batch.ts'
export { createClient, type Rapport } from './client.ts'
export type { Filter } from './encode.ts'
export { type FieldProblem, RapportError } from './errors.ts'
export type { Operations } from './generated/operations.ts'
export type * from './generated/types.ts'
export type { Options, RawBody, Settings } from './request.ts'
export { type Answered, etagOf, responseOf } from './responses.ts'
export {
  type EventOf,
  type HeadersLike,
  type PingEvent,
  type RawWebhookBody,
  type VerifyOptions,
  verifyWebhook,
  WebhookError,
  type WebhookEvent,
  type WebhookProblem,
} from './webhook.ts'
