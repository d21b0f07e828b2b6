import { Checkbox, Text } from '@mantine/core'
import { useState } from 'react'
import { answerOf, api, type Schemas } from '../api/client.ts'
import { useSession } from '../app/session.ts'
import { useMembers } from '../record/fields/members.ts'
import { type Texts, useTexts } from '../texts/with-settings.ts'
import { Select } from '../ui/late-inputs.tsx'
import { Ask } from './ask.tsx'
import type { Role } from './roles.ts'

type Member = Schemas['Member']
/**
 * A change to a member; role null: remove. `keys`: live keys whose scopes the person could not grant after
 * the change.
 */
export type MemberChange = { member: Member; role: Role | null; keys: number }

const make_keys: readonly Role[] = ['owner', 'admin']

/** How many keys have scopes that the member would lose by the change. */
export async function keysLeft(member: Member, role: Role | null): Promise<number> {
  if (role !== null && (make_keys.includes(role) || !make_keys.includes(member.role))) return 0
  const query = { made_by: member.id, live: 'true' as const, page: 1, per_page: 1 }
  return (await answerOf(api.GET('/api/v1/keys', { params: { query } }))).meta.total ?? 0
}

type Props = {
  change: MemberChange
  onClose: () => void
  /** Makes the change, with or without revoking the keys and handing the records over. */
  onDo: (revoke_keys: boolean, hand_to?: string | null) => Promise<unknown>
}

/**
 * Confirms a change that removes a member, transfers the person's own role, or reduces a role whose keys
 * stay valid.
 */
export function MemberDialog({ change, onClose, onDo }: Props) {
  const t = useTexts()
  const { user } = useSession()
  const [revoke, setRevoke] = useState(true)
  const [heir, setHeir] = useState(keep)
  const { member, keys } = change
  const own = member.id === user.id
  return (
    <Ask
      {...wordsOf(change, own, t)}
      opened
      onClose={onClose}
      onDo={() => onDo(revoke && keys > 0, handTo(heir))}
    >
      {change.role === null && <Heir member={member} own={own} value={heir} onChange={setHeir} />}
      {keys > 0 && (
        <>
          <Text size="sm" my="sm">
            {own ? t.settings.keys_of_yours({ n: keys }) : t.settings.keys_of_person({ n: keys })}
          </Text>
          <Checkbox
            label={own ? t.settings.revoke_my_keys : t.settings.revoke_their_keys}
            checked={revoke}
            onChange={(event) => setRevoke(event.currentTarget.checked)}
          />
        </>
      )}
    </Ask>
  )
}

// Choices that are not the id of a member.
const keep = 'keep'
const nobody = 'nobody'

/** The new owner of the records; undefined if they keep theirs. */
const handTo = (heir: string) => (heir === keep ? undefined : heir === nobody ? null : heir)

type HeirProps = { member: Member; own: boolean; value: string; onChange: (heir: string) => void }

/** Asks who gets the records of a member who leaves. */
function Heir({ member, own, value, onChange }: HeirProps) {
  const t = useTexts()
  const { members = [] } = useMembers()
  const others = members.filter(({ id }) => id !== member.id)
  return (
    <Select
      mt="md"
      label={own ? t.settings.hand_yours_to : t.settings.hand_theirs_to}
      description={t.settings.hand_text}
      data={[
        { value: keep, label: own ? t.settings.keep_yours : t.settings.keep_theirs({ name: member.name }) },
        ...others.map(({ id, label }) => ({ value: id, label })),
        { value: nobody, label: t.record.nobody },
      ]}
      searchable
      allowDeselect={false}
      value={value}
      onChange={(heir) => heir && onChange(heir)}
    />
  )
}

function wordsOf({ member: { name }, role }: MemberChange, own: boolean, t: Texts) {
  const { app, settings, people } = t
  if (role === null)
    return own
      ? { title: settings.leave_title, text: settings.leave_text, action: settings.leave }
      : { title: settings.remove_title({ name }), text: settings.remove_text, action: app.remove }
  const given = people.roles[role]
  return own
    ? {
        title: settings.own_role_title,
        text: settings.own_role_text({ role: given }),
        action: settings.change_role,
      }
    : {
        title: settings.change_role_title({ name, role: given }),
        text: settings.role_texts[role],
        action: settings.change_role,
      }
}
