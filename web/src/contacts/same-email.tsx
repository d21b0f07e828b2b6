import { Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { RecordLink } from '../record/fields/linked.tsx'
import { useTexts } from '../texts/texts.ts'
import { writeParts } from '../ui/filter-value.ts'
import { fullName } from '../ui/full-name.ts'
import { contactsApi } from './kind.ts'
import './same-email.css'

const typing_ms = 200

/** Says which other contact has an e-mail address. It refuses nothing: two people may share a mailbox. */
export function SameEmail({ email, except }: { email: string | null; except?: number }) {
  const t = useTexts()
  const [asked] = useDebouncedValue(email?.trim() ?? '', typing_ms)
  const { data } = useQuery({
    queryKey: ['contacts', 'same-email', asked],
    queryFn: async ({ signal }) => {
      const parts = writeParts([{ not: false, value: asked }])
      return (await contactsApi.list({ email: parts, per_page: 2 }, signal)).data
    },
    enabled: /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(asked),
  })
  const other = asked === email?.trim() ? data?.find(({ id }) => id !== except) : undefined
  return (
    <Text size="sm" role="status" className="same-email">
      {other && (
        <>
          {t.contacts.same_email}{' '}
          <RecordLink kind="contacts" id={other.id} name={fullName(other)} className="" />
        </>
      )}
    </Text>
  )
}
