import type { ReactNode } from 'react'
import { useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { useMay } from '../app/session.ts'
import { useMembers } from '../record/fields/members.ts'
import { useKinds } from '../record/kinds.ts'
import { place } from '../texts/texts.ts'
import { useTexts } from '../texts/with-imports.ts'
import { type Import, type ImportedKind, isImported } from './imports.ts'

// Records of these kinds refer to those before them.
const following: Partial<Record<ImportedKind, ImportedKind>> = {
  companies: 'contacts',
  contacts: 'deals',
  deals: 'activities',
}

/** After an import, a sentence with links: its records, the records that come next, and colleagues who are missing. */
export function WhatComesNext({ one: { resource, columns } }: { one: Import }) {
  const t = useTexts()
  const { locale } = useFormats()
  const may = useMay()
  const kinds = useKinds()
  const { members } = useMembers()
  const kind = isImported(resource) ? resource : undefined
  const next = kind && following[kind]
  const is_alone = members?.length === 1
  const lacks_owners = columns.some(({ field, reasons }) => field === 'owner' && reasons.not_linked)
  const manyOf = (of: ImportedKind) => ({ many: t.kinds[of].in_sentence.many })
  const links: Record<string, ReactNode> = {
    ...(kind && { records: <Link to={kinds[kind].path}>{t.imports.show(manyOf(kind))}</Link> }),
    ...(next &&
      may('imports:write') &&
      may(`${next}:write`) && {
        import: (
          <Link to="/settings/imports/new" search={{ resource: next }}>
            {t.imports.next_import(manyOf(next))}
          </Link>
        ),
      }),
    ...(may('members:write') &&
      (is_alone || lacks_owners) && {
        colleagues: <Link to="/settings/members">{t.imports.next_colleagues}</Link>,
      }),
  }
  const names = Object.keys(links)
  if (!names.length) return null
  const parts = new Intl.ListFormat(locale, { type: 'disjunction' }).formatToParts(names)
  const [before, after] = t.imports.next({ links: place }).split(place)
  return (
    <p className="import-next">
      {before}
      {parts.map(({ type, value }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence have nothing else
        <span key={at}>{type === 'element' ? links[value] : value}</span>
      ))}
      {after}
    </p>
  )
}
