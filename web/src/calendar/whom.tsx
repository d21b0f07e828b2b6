import { OwnerAvatar } from '../record/fields/owner.tsx'
import { fullName } from '../ui/full-name.ts'
import type { Appointment } from './appointments.ts'

/** The contact of an appointment, after its title. */
export const Whom = ({ contact }: Pick<Appointment, 'contact'>) =>
  contact && <span className="calendar-contact">, {fullName(contact)}</span>

/** The avatar of an appointment's host. */
export const Host = ({ id }: { id: string | null }) => (
  <span className="calendar-host">
    <OwnerAvatar kind="appointments" id={id} />
  </span>
)
