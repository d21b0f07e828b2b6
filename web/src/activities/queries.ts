import { useQueryClient } from '@tanstack/react-query'
import { changeSince } from '../api/change-since.ts'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { showProblem } from '../app/problems.tsx'
import { useNames } from '../record/kinds.ts'
import { useBulk } from '../record/list/bulk.tsx'
import { askWhose } from '../record/page/conflicts.ts'
import { useRefreshAfter } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { showMessage } from '../ui/undo.tsx'
import { activities, activitiesApi } from './kind.tsx'

export type Activity = Schemas['Activity']
export type ListedActivity = Schemas['ActivityOfList']
export const activity_types = ['call', 'email', 'meeting', 'task', 'other'] as const

/** The references of an activity: pairs of field and kind. */
export const links = [
  ['contact_id', 'contacts'],
  ['company_id', 'companies'],
  ['deal_id', 'deals'],
] as const

const byId = (id: number) => ({ params: { path: { id } } })
const complete = (id: number) =>
  dataOf(api.POST('/api/v1/activities/{id}/complete', { ...byId(id), body: {} }))
const reopen = (id: number) => dataOf(api.POST('/api/v1/activities/{id}/reopen', { ...byId(id), body: {} }))
const shared = { kind: 'activities', nameOf: activities.nameOf } as const

/** The actions on activities, each with Undo. They resolve to the activities that failed. */
export function useActivityActions() {
  const t = useTexts()
  const client = useQueryClient()
  const bulk = useBulk()
  const names = useNames('activities')
  const refresh = useRefreshAfter('activities')
  /** Updates completed_at in every cached list. */
  async function show(those: readonly ListedActivity[], at: (one: ListedActivity) => string | null) {
    // Running reads may have the old state.
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
      client.setQueryData<Activity>(activitiesApi.query(id).queryKey, (one) => one && changed(one))
  }

  return {
    /** Skips completed activities. */
    complete(those: readonly ListedActivity[]) {
      const now = new Date().toISOString()
      const [only, more] = those
      return bulk({
        ...shared,
        items: those.filter(({ completed_at }) => !completed_at),
        work: ({ id }) => complete(id),
        undo: ({ id }) => reopen(id),
        show: (shown, done) => show(shown, () => (done ? now : null)),
        message: (n) =>
          only && !more
            ? t.activities.completed_one({ subject: only.subject })
            : t.activities.completed_many({ n }),
      })
    },
    /** Says what came of a completed activity. */
    async saveOutcome(activity: ListedActivity, outcome: string | null): Promise<void> {
      try {
        await changeSince('activities', activity as Activity, { outcome }, askWhose)
        await refresh()
      } catch (error) {
        showProblem(error, t)
      }
    },
    /** Plans the next step after an activity, about the same records. */
    async plan(after: ListedActivity, subject: string, due_at: string | null): Promise<void> {
      try {
        const of = Object.fromEntries(links.map(([field]) => [field, after[field]]))
        await activitiesApi.create({ ...of, type: 'task', subject, due_at })
        await refresh()
        showMessage(t.activities.planned)
      } catch (error) {
        showProblem(error, t)
      }
    },
    reopen: (activity: ListedActivity) =>
      bulk({
        ...shared,
        items: [activity],
        work: ({ id }) => reopen(id),
        // Restore the original time.
        undo: { change: ({ completed_at }) => ({ completed_at }) },
        show: (shown, open) => show(shown, ({ completed_at }) => (open ? null : completed_at)),
        message: () => t.activities.reopened_one({ subject: activity.subject }),
      }),
    /** Deletes activities. The caller closes their page first. */
    remove(those: readonly ListedActivity[]) {
      const [only, more] = those
      return bulk({
        ...shared,
        items: those,
        work: 'delete',
        undo: 'restore',
        message: (n) =>
          only && !more
            ? t.app.deleted({ what: only.subject })
            : t.app.deleted({ what: names.counted({ n }) }),
      })
    },
  }
}
