import type { RecordPath } from '../app/addresses.ts'
import { all_kinds } from '../kinds.ts'

/** The page of the record of an event, from the sent body; null if there is none. */
export function pageOfEvent(event: string, body: string | undefined): RecordPath | null {
  const [noun = '', verb] = event.split('.')
  const page = all_kinds.find((kind) => kind.noun === noun)?.path
  if (!page || !body || verb === 'deleted') return null
  try {
    const id = (JSON.parse(body) as { data?: { id?: unknown } }).data?.id
    return typeof id === 'number' ? `${page}/${id}` : null
  } catch {
    return null
  }
}
