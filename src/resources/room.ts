import type { Db } from '../db/db.ts'
import type { App } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import type { Resource } from './resource.ts'

/** A resource as the service offers it: what it is, how its records are read, and its endpoints. */
export type Room = {
  resource: Resource
  /** Records as lists show them, in the order of the ids. */
  byIds(db: Db, workspace_id: number, ids: number[]): Promise<{ id: number }[]>
  /** Adds its endpoints to the service. */
  routes(app: App, service: Service): void
}
