import { TasklistIcon } from '@primer/octicons-react'
import { recordApi } from '../api/record-api.ts'
import type { Kind } from '../record/kinds.ts'
import { visible } from '../ui/visible.ts'
import { Due, TypeLabel } from './labels.tsx'

export const activitiesApi = recordApi('activities')

export const activities = {
  kind: 'activities',
  noun: 'activity',
  path: '/activities',
  icon: TasklistIcon,
  keys: 'g a',
  creates: true,
  owned: true,
  matches: [],
  events: ['activity.created', 'activity.completed'],
  stale: ['contacts', 'companies', 'deals', 'reports'],
  nameOf: ({ subject }) => visible(subject),
  lines: (activity) => [
    <TypeLabel key="type" type={activity.type} />,
    activity.due_at && <Due key="due" activity={activity} />,
    activity.outcome,
  ],
  timelineEntry({ type, subject, due_at, completed_at, outcome }, t, formats, own) {
    const label = t.activities.types[type]
    // The name that the log gives by itself says nothing here.
    const given = subject === t.activities.logged_with({ type: label, name: own }) ? null : visible(subject)
    const when = completed_at
      ? `${t.record.completed} ${formats.moment(completed_at)}`
      : due_at && `${t.record.due} ${formats.moment(due_at)}`
    return outcome
      ? { label, text: visible(outcome), facts: [given, when] }
      : { label, text: given, planned: !completed_at, facts: [when] }
  },
  found: (type, t) => t.activities.types[type as keyof typeof t.activities.types],
  list: async () => (await import('./activities-page.tsx')).ActivitiesPage,
  record: async () => (await import('./activity-record.tsx')).ActivityRecord,
  log: async () => (await import('./log-activity.tsx')).LogActivity,
  related: {
    to: ['contacts', 'companies', 'deals'],
    header: ['contacts', 'companies', 'deals'],
    load: async () => (await import('./related.tsx')).related,
  },
} as const satisfies Kind<'activities'>
