import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import { useBulk } from '../record/bulk.tsx'
import { useTexts } from '../texts/texts.ts'

export type Activity = Schemas['Activity']
export type ListedActivity = Schemas['ActivityOfList']
export type ActivityType = Activity['type']
export const activity_types = ['call', 'email', 'meeting', 'task', 'other'] as const

/** What an activity may be about: the field, the kind of the record, and what it is called. */
export const links = [
  ['contact_id', 'contacts', 'contact'],
  ['company_id', 'companies', 'company'],
  ['deal_id', 'deals', 'deal'],
] as const

export const activityQuery = (id: number) =>
  queryOptions({
    queryKey: ['activities', 'record', id],
    queryFn: () => dataOf(api.GET('/api/v1/activities/{id}', { params: { path: { id } } })),
  })

const byId = (id: number) => ({ params: { path: { id } } })
const complete = (id: number) =>
  dataOf(api.POST('/api/v1/activities/{id}/complete', { ...byId(id), body: {} }))
const reopen = (id: number) => dataOf(api.POST('/api/v1/activities/{id}/reopen', { ...byId(id), body: {} }))
export const changeActivity = (id: number, body: Partial<Activity>): Promise<Activity> =>
  dataOf(api.PUT('/api/v1/activities/{id}', { ...byId(id), body }))

/** What a change of an activity makes old. */
export const touched = ['activities', 'timeline', 'reports', 'trash']
const shared = { nameOf: ({ subject }: ListedActivity) => subject, refresh: touched }

/** What can be done with activities from anywhere, each with its way back in a toast; resolves to what could not be done. */
export function useActivityActions() {
  const t = useTexts()
  const client = useQueryClient()
  const bulk = useBulk()
  /** Shows when activities were completed, wherever they stand: every list has them under data. */
  async function show(those: readonly ListedActivity[], at: (one: ListedActivity) => string | null) {
    // What is being read now tells of before.
    await client.cancelQueries({ queryKey: ['activities'] })
    const known = new Map(those.map((one) => [one.id, at(one)]))
    const changed = <T extends ListedActivity>(one: T): T => {
      const completed_at = known.get(one.id)
      return completed_at === undefined ? one : { ...one, completed_at }
    }
    client.setQueriesData<{ data?: ListedActivity[] }>({ queryKey: ['activities'] }, (found) =>
      Array.isArray(found?.data) ? { ...found, data: found.data.map(changed) } : found,
    )
    for (const { id } of those)
      client.setQueryData<Activity>(activityQuery(id).queryKey, (one) => one && changed(one))
  }

  return {
    /** Those that are done already stay as they are. */
    complete(activities: readonly ListedActivity[]) {
      const now = new Date().toISOString()
      const [only, more] = activities
      return bulk({
        ...{ ...shared, items: activities.filter(({ completed_at }) => !completed_at) },
        work: ({ id }) => complete(id),
        undo: ({ id }) => reopen(id),
        show: (those, done) => show(those, () => (done ? now : null)),
        message: (n) =>
          only && !more ? t.activities.completed_one(only.subject) : t.activities.completed_many(n),
      })
    },
    reopen: (activity: ListedActivity) =>
      bulk({
        ...{ ...shared, items: [activity] },
        work: ({ id }) => reopen(id),
        // As it was: completed at its own time.
        undo: ({ id, completed_at }) => changeActivity(id, { completed_at }),
        show: (those, open) => show(those, ({ completed_at }) => (open ? null : completed_at)),
        message: () => t.activities.reopened_one(activity.subject),
      }),
    /** Deletes them; what shows one of them is left before. */
    remove(activities: readonly ListedActivity[]) {
      const [only, more] = activities
      return bulk({
        ...{ ...shared, items: activities },
        work: ({ id }) => answerOf(api.DELETE('/api/v1/activities/{id}', byId(id))),
        undo: ({ id }) => answerOf(api.POST('/api/v1/activities/{id}/restore', { ...byId(id), body: {} })),
        message: (n) => (only && !more ? t.app.deleted(only.subject) : t.app.deleted_many(n)),
      })
    },
  }
}
