import { ActionIcon, Button, Group, Select, Tooltip } from '@mantine/core'
import { SignOutIcon, XIcon } from '@primer/octicons-react'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api, dataOf, Problem, type Schemas } from '../api/client.ts'
import { ProblemNote, tellProblem } from '../app/problems.tsx'
import { sessionQuery, useMay, useSession } from '../app/session.ts'
import { useTexts } from '../texts/texts.ts'
import { useAddress } from '../ui/list-view.ts'
import { type Column, DataTable } from '../ui/table.tsx'
import { tell } from '../ui/undo.tsx'
import { Ago, Initials } from '../ui/values.tsx'
import { Ask } from './ask.tsx'
import { Invitations } from './invitations.tsx'
import { Invite } from './invite.tsx'
import { type Role, roles } from './roles.ts'
import { SettingsFrame } from './settings-frame.tsx'

type Member = Schemas['Member']
const per_page = 50

/** Who works here, as what; inviting and removing people. */
export function MembersPage() {
  const t = useTexts()
  const client = useQueryClient()
  const { user } = useSession()
  const writes = useMay()('members:write')
  const [inviting, setInviting] = useState(false)
  const [removing, setRemoving] = useState<Member | null>(null)
  const { address, change } = useAddress()
  const page = Number(address.page) || 1
  const { data, error, refetch } = useQuery({
    queryKey: ['members', 'list', page],
    queryFn: () => answerOf(api.GET('/api/v1/members', { params: { query: { page, per_page } } })),
    placeholderData: keepPreviousData,
  })
  const refused = useRefusal()
  const leaving = removing?.id === user.id
  async function remove() {
    const params = { path: { user_id: removing?.id ?? '' } }
    try {
      await answerOf(api.DELETE('/api/v1/members/{user_id}', { params }))
    } catch (error) {
      throw refused(error)
    }
    // Who leaves has no session here any more.
    if (leaving) window.location.assign('/sign-in')
    else await client.invalidateQueries({ queryKey: ['members'] })
  }
  const columns = useColumns(writes ? setRemoving : null)
  const total = data?.meta.total
  return (
    <SettingsFrame
      title={t.settings.places.members.label}
      count={total}
      actions={writes && <Button onClick={() => setInviting(true)}>{t.settings.invite}</Button>}
      api={{
        ...{ method: 'POST', path: '/invitations' },
        body: { email: 'ada@example.com', role: 'member' },
      }}
    >
      {error ? (
        <ProblemNote error={error} onRetry={refetch} />
      ) : (
        <div className="members-table">
          <DataTable
            label={t.settings.places.members.label}
            columns={columns}
            rows={data?.data}
            meta={total !== undefined && total > per_page ? data?.meta : undefined}
            onPage={(to) => change({ page: String(to) })}
            nameOf={({ name }) => name}
            empty={null}
          />
        </div>
      )}
      {writes && <Invitations writes />}
      <Invite opened={inviting} onClose={() => setInviting(false)} />
      <Ask
        title={leaving ? t.settings.leave_title : t.settings.remove_title(removing?.name ?? '')}
        text={leaving ? t.settings.leave_text : t.settings.remove_text}
        action={leaving ? t.settings.leave : t.settings.remove_member}
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        onDo={remove}
      />
    </SettingsFrame>
  )
}

/** What the rules about owners mean, in the reader's words. */
function useRefusal() {
  const t = useTexts()
  return (error: unknown): unknown => {
    if (!(error instanceof Problem)) return error
    const text = { 409: t.settings.last_owner, 403: t.settings.owners_only }[error.status]
    // A conflict is told in the words that it has.
    return text ? new Problem(error.status, 'conflict', text, error.request_id) : error
  }
}

function useColumns(onRemove: ((member: Member) => void) | null): Column<Member>[] {
  const t = useTexts()
  const client = useQueryClient()
  const refused = useRefusal()
  const { user, role: own_role } = useSession()
  const mine = (member: Member) => own_role === 'owner' || member.role !== 'owner'
  async function give({ id, name }: Member, role: Role) {
    try {
      const params = { path: { user_id: id } }
      await dataOf(api.PUT('/api/v1/members/{user_id}', { params, body: { role } }))
      tell(t.settings.role_changed(name, t.people.roles[role]))
      if (id === user.id) await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
    } catch (error) {
      tellProblem(refused(error), t)
    }
    await client.invalidateQueries({ queryKey: ['members'] })
  }
  const given = roles.filter((role) => role !== 'owner' || own_role === 'owner')
  return [
    {
      ...{ id: 'name', label: t.settings.name },
      cell: ({ id, name }) => (
        <Group gap="sm" wrap="nowrap">
          <Initials name={name} />
          <span>
            {name}
            {id === user.id && <span className="settings-soft"> ({t.settings.you})</span>}
          </span>
        </Group>
      ),
    },
    { id: 'email', label: t.people.email, cell: ({ email }) => email },
    {
      ...{ id: 'role', label: t.settings.role, phone: true },
      cell: (member) =>
        onRemove && mine(member) ? (
          <Select
            size="xs"
            w={124}
            aria-label={t.settings.role_of(member.name)}
            data={given.map((role) => ({ value: role, label: t.people.roles[role] }))}
            value={member.role}
            allowDeselect={false}
            onChange={(role) => role && role !== member.role && give(member, role as Role)}
          />
        ) : (
          t.people.roles[member.role]
        ),
    },
    { id: 'created_at', label: t.settings.member_since, cell: ({ created_at }) => <Ago at={created_at} /> },
    ...(onRemove
      ? [
          {
            ...{ id: 'remove', label: t.app.actions, phone: true, number: true },
            cell: (member: Member) =>
              mine(member) && (
                <Tooltip label={member.id === user.id ? t.settings.leave : t.app.remove}>
                  <ActionIcon
                    variant="subtle"
                    color="red"
                    aria-label={member.id === user.id ? t.settings.leave : t.settings.remove_of(member.name)}
                    onClick={() => onRemove(member)}
                  >
                    {member.id === user.id ? <SignOutIcon /> : <XIcon />}
                  </ActionIcon>
                </Tooltip>
              ),
          },
        ]
      : []),
  ]
}
