import { activities } from './activities/resource.ts'
import { appointments } from './appointments/resource.ts'
import { booking_pages } from './booking-pages/resource.ts'
import { companies } from './companies/resource.ts'
import { notes } from './contacts/notes/resource.ts'
import { contacts } from './contacts/resource.ts'
import { deals } from './deals/resource.ts'
import type { Resource } from './resource.ts'

/** All resources, in the order of the interface. A new resource is one line here. */
export const resources: readonly Resource[] = [
  contacts,
  notes,
  companies,
  deals,
  activities,
  appointments,
  booking_pages,
]
