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
  stale: ['deals', 'reports'],
  nameOf: ({ subject }) => visible(subject),
  lines: (activity) => [
    <TypeLabel key="type" type={activity.type} />,
    activity.due_at && <Due key="due" activity={activity} />,
    activity.outcome,
  ],
  timelineEntry: ({ type, due_at, completed_at, outcome }, t, formats) => ({
    label: t.record.activity_planned({ type: t.activities.types[type] }),
    facts: [
      completed_at
        ? `${t.record.completed} ${formats.moment(completed_at)}`
        : due_at && `${t.record.due} ${formats.moment(due_at)}`,
      outcome,
    ],
  }),
  found: (type, t) => t.activities.types[type as keyof typeof t.activities.types],
  list: async () => (await import('./activities-page.tsx')).ActivitiesPage,
  record: async () => (await import('./activity-record.tsx')).ActivityRecord,
  log: async () => (await import('./log-activity.tsx')).LogActivity,
  related: {
    to: ['contacts', 'companies', 'deals'],
    load: async () => (await import('./related.tsx')).related,
  },
} as const satisfies Kind<'activities'>
