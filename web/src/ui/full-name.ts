import { visible } from './visible.ts'

/** The name of a contact, as it is written everywhere. */
export const fullName = ({ first_name, last_name }: { first_name: string; last_name: string }): string =>
  visible(`${first_name} ${last_name}`)
