import { activityRoom } from './activities/routes.ts'
import { appointmentRoom } from './appointments/routes.ts'
import { bookingPageRoom } from './booking-pages/routes.ts'
import { companyRoom } from './companies/routes.ts'
import { contactRoom } from './contacts/routes.ts'
import { dealRoom } from './deals/routes.ts'
import { companyNoteRoom, contactNoteRoom, dealNoteRoom } from './notes/routes.ts'
import type { Resource } from './resource.ts'
import type { Room } from './room.ts'

/** All resources, in the order of the interface. A new resource is one line here. */
export const rooms: readonly Room[] = [
  contactRoom,
  contactNoteRoom,
  companyRoom,
  companyNoteRoom,
  dealRoom,
  dealNoteRoom,
  activityRoom,
  appointmentRoom,
  bookingPageRoom,
]

/** The descriptions of all resources. */
export const resources: readonly Resource[] = rooms.map(({ resource }) => resource)
