// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogue } from './app.ts'
import { resources } from './resources/index.ts'

// A resource that was added later has events beside them.
const of_interface = [
  'contacts',
  'notes',
  'companies',
  'deals',
  'activities',
  'appointments',
  'booking_pages',
]

test("the interface's resources have its 17 events, in its order, and every example has the keys of its schema", () => {
  const own = resources.filter(({ table }) => of_interface.includes(table))
  assert.deepEqual(
    own.flatMap(({ events }) => events.map(({ name }) => name)),
    [
      'contact.created',
      'contact.updated',
      'contact.deleted',
      'company.created',
      'company.updated',
      'company.deleted',
      'deal.created',
      'deal.updated',
      'deal.stage_changed',
      'deal.won',
      'deal.lost',
      'deal.deleted',
      'activity.created',
      'activity.completed',
      'appointment.created',
      'appointment.updated',
      'appointment.cancelled',
    ],
  )
  for (const { name, data, example } of catalogue) {
    const { properties } = data as unknown as { properties: object }
    assert.deepEqual(Object.keys(example).sort(), Object.keys(properties).sort(), name)
  }
})
