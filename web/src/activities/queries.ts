import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import { tellProblem } from '../app/problems.tsx'
import { useCounted } from '../record/bulk.tsx'
import { useRefresh } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { offerUndo } from '../ui/undo.tsx'

export type Activity = Schemas['Activity']
export type ListedActivity = Schemas['ListedActivity']
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

type Listed = { data: ListedActivity[] }
const call = {
  complete: (id: number) =>
    dataOf(api.POST('/api/v1/activities/{id}/complete', { params: { path: { id } }, body: {} })),
  reopen: (id: number) =>
    dataOf(api.POST('/api/v1/activities/{id}/reopen', { params: { path: { id } }, body: {} })),
  remove: (id: number) => answerOf(api.DELETE('/api/v1/activities/{id}', { params: { path: { id } } })),
  restore: (id: number) =>
    answerOf(api.POST('/api/v1/activities/{id}/restore', { params: { path: { id } }, body: {} })),
}

/** What can be done with activities from anywhere, each with its way back in a toast. */
export function useActivityActions() {
  const t = useTexts()
  const client = useQueryClient()
  const counted = useCounted()
  const refreshAll = useRefresh()
  const refresh = () => refreshAll('activities', 'timeline', 'reports', 'trash')
  /** Shows a change before the service has said yes. */
  function show(ids: readonly number[], changes: Partial<Activity>) {
    const changed = <T extends { id: number }>(one: T): T =>
      ids.includes(one.id) ? { ...one, ...changes } : one
    // Every list has them under data: that of the page, and those of the records they are about.
    client.setQueriesData<Partial<Listed>>({ queryKey: ['activities'] }, (found) =>
      Array.isArray(found?.data) ? { ...found, data: found.data.map(changed) } : found,
    )
    for (const id of ids)
      client.setQueryData<Activity>(activityQuery(id).queryKey, (one) => one && changed(one))
  }
  /** Does it to each and tells what could not be done; `shown` resolves when the pages show what is now. */
  async function doAll(ids: readonly number[], work: (id: number) => Promise<unknown>) {
    await client.cancelQueries({ queryKey: ['activities'] })
    const { done, failed } = await counted(ids, work)
    const [first] = failed
    if (first && failed.length === 1) tellProblem(first.problem, t)
    else if (first) tellProblem(first.problem, t, t.app.failed_many(failed.length))
    return { done, shown: refresh() }
  }
  const now = () => new Date().toISOString()

  return {
    refresh,
    async complete(activity: ListedActivity) {
      const ids = [activity.id]
      show(ids, { completed_at: now() })
      const { done, shown } = await doAll(ids, call.complete)
      if (done.length)
        offerUndo(t, t.activities.completed_one(activity.subject), async () => {
          show(ids, { completed_at: null })
          await doAll(ids, call.reopen)
        })
      await shown
    },
    async reopen(activity: ListedActivity) {
      const ids = [activity.id]
      const { completed_at } = activity
      show(ids, { completed_at: null })
      const { done, shown } = await doAll(ids, call.reopen)
      if (done.length)
        offerUndo(t, t.activities.reopened_one(activity.subject), async () => {
          show(ids, { completed_at })
          // As it was: completed at its own time.
          await doAll(ids, (id) =>
            dataOf(api.PUT('/api/v1/activities/{id}', { params: { path: { id } }, body: { completed_at } })),
          )
        })
      await shown
    },
    /** Those that are done already stay as they are. */
    async completeMany(activities: readonly ListedActivity[]) {
      const ids = activities.filter(({ completed_at }) => !completed_at).map(({ id }) => id)
      show(ids, { completed_at: now() })
      const { done, shown } = await doAll(ids, call.complete)
      if (done.length) offerUndo(t, t.activities.completed_many(done.length), () => doAll(done, call.reopen))
      await shown
    },
    /** Deletes them; what shows one of them is left before. */
    async remove(activities: readonly ListedActivity[]) {
      const { done, shown } = await doAll(
        activities.map(({ id }) => id),
        call.remove,
      )
      const [only, more] = activities
      const told = only && !more ? t.app.deleted(only.subject) : t.app.deleted_many(done.length)
      if (done.length) offerUndo(t, told, () => doAll(done, call.restore))
      await shown
    },
  }
}
