/** The texts of custom fields that are defined. */
export const definitions = {
  create: 'Create field',
  edit: (label: string) => `Edit the field ${label}`,
  save: 'Save field',
  kind: 'Fields of',
  none: 'No fields yet. A field of your own has a type, and every record of the kind offers it.',
  key: 'Key',
  key_text: 'The name in the API, such as customer_no. It cannot change.',
  label: 'Label',
  label_text: 'The name that people see. Left empty, the key.',
  options: 'Options',
  options_text: 'One on each line.',
  required: 'Required',
  required_text: 'New records must have a value. Old ones may lack it.',
  unique: 'Unique',
  unique_text: 'No two records have the same value.',
  types: {
    text: 'Text',
    number: 'Number',
    boolean: 'Yes or no',
    date: 'Date',
    select: 'Choice',
    url: 'Web address',
    email: 'E-mail',
  },
  broken: (n: string, one: boolean) =>
    one
      ? '1 existing value breaks this. Change it first, or apply this to new values only.'
      : `${n} existing values break this. Change them first, or apply this to new values only.`,
  force: 'Apply to new values only',
  force_text: 'Existing values stay as they are until they change.',
  move_up: (label: string) => `Move ${label} up`,
  move_down: (label: string) => `Move ${label} down`,
  moved: (label: string, place: string, count: string) => `${label} is now ${place} of ${count}`,
  delete: (label: string) => `Delete the field ${label}`,
  deleted: (label: string) => `Field ${label} deleted. Its values stay in the records.`,
}
