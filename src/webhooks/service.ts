import type { Service } from '../http/service.ts'
import type { BuildBody } from './delivery/bodies.ts'
import type { Dispatcher } from './delivery/dispatcher.ts'
import type { TargetPolicy } from './registration/target.ts'

/** The service as the routes of webhooks use it. */
export type WebhookService = Service & { policy: TargetPolicy; dispatcher: Dispatcher; buildBody: BuildBody }
