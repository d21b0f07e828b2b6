/** For whom and when a change is made; every write of a request shares one. */
export type Context = {
  workspace_id: number
  key_id: string
  /** ISO 8601 UTC with milliseconds. */
  now: string
  now_ms: number
}
