import { useNavigate, useParams } from '@tanstack/react-router'
import { AppointmentRecord } from './appointment-record.tsx'

/** An appointment on its own page. */
export function AppointmentPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const navigate = useNavigate()
  return <AppointmentRecord key={id} id={Number(id)} onLeave={() => navigate({ to: '/calendar' })} />
}
