import { useNavigate, useParams } from '@tanstack/react-router'
import { NotFound } from '../app/places.tsx'
import { ContactRecord } from './contact-record.tsx'

/** The page of one contact. */
export function ContactPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const navigate = useNavigate()
  if (!/^[1-9]\d{0,14}$/.test(id)) return <NotFound />
  return <ContactRecord key={id} id={Number(id)} onLeave={() => navigate({ to: '/contacts' })} />
}
