import { fullName } from '../ui/full-name.ts'
import type { Appointment } from './appointments.ts'

/** The contact of an appointment, after its title. */
export const Whom = ({ contact }: Pick<Appointment, 'contact'>) =>
  contact && <span className="calendar-contact">, {fullName(contact)}</span>
