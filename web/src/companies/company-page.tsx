import { useNavigate, useParams } from '@tanstack/react-router'
import { NotFound } from '../app/places.tsx'
import { CompanyRecord } from './company-record.tsx'

/** The page of one company. */
export function CompanyPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const navigate = useNavigate()
  if (!/^[1-9]\d{0,14}$/.test(id)) return <NotFound />
  return <CompanyRecord key={id} id={Number(id)} onLeave={() => navigate({ to: '/companies' })} />
}
