import { laterDialog } from '../app/contained.tsx'
import { RecordLink } from '../record/fields/linked.tsx'
import type { Related } from '../record/kinds.ts'
import { RelatedRow } from '../record/page/related.tsx'
import { CompleteCircle } from './complete-circle.tsx'
import { Due, TypeLabel } from './labels.tsx'

const CreateActivity = laterDialog(async () => (await import('./create-activity.tsx')).CreateActivity)

export const related: Related<'activities'> = {
  row: (activity) => (
    <RelatedRow
      lead={<CompleteCircle activity={activity} />}
      link={<RecordLink kind="activities" id={activity.id} name={activity.subject} />}
      detail={<TypeLabel type={activity.type} />}
      side={<Due activity={activity} />}
      done={Boolean(activity.completed_at)}
    />
  ),
  Create: CreateActivity,
}
