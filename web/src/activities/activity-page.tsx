import { useNavigate, useParams } from '@tanstack/react-router'
import { ActivityRecord } from './activity-record.tsx'

/** An activity on its own page. */
export function ActivityPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const navigate = useNavigate()
  return <ActivityRecord key={id} id={Number(id)} onLeave={() => navigate({ to: '/activities' })} />
}
