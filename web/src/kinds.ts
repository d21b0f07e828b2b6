import { activities } from './activities/kind.tsx'
import type { EventName } from './api/client.ts'
import type { RecordKind } from './api/record-api.ts'
import { appointments, booking_pages } from './calendar/kind.ts'
import { companies } from './companies/kind.ts'
import { contacts } from './contacts/kind.ts'
import { deals } from './deals/kind.tsx'
import type { Kind, Kinds } from './record/kinds.ts'

/** The one table of record kinds. Its order is that of the rail, the palette and the tabs. */
const table = {
  contacts,
  companies,
  deals,
  activities,
  appointments,
  booking_pages,
} satisfies Kinds

export const kinds: Kinds = table
export const all_kinds: readonly Kind[] = Object.values(kinds)

// An event of the API that no kind lists is an error here.
type Listed = (typeof table)[RecordKind]['events'][number]
export const all_events: readonly ([EventName] extends [Listed] ? EventName : never)[] = all_kinds.flatMap(
  ({ events }) => events,
)
