import { ActionIcon, Button, Group } from '@mantine/core'
import { SignOutIcon, XIcon } from '@primer/octicons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api, dataOf, isGone, Problem, type Schemas } from '../api/client.ts'
import { laterDialog } from '../app/contained.tsx'
import { showProblem } from '../app/problems.tsx'
import { sessionQuery, useMay, useSession } from '../app/session.ts'
import { useOwnerName } from '../record/fields/members.ts'
import { useTexts } from '../texts/with-settings.ts'
import { Select } from '../ui/late-inputs.tsx'
import { ListTable, useListPage } from '../ui/list-page.tsx'
import { useCreating, useListView } from '../ui/list-view.ts'
import type { Column } from '../ui/table.tsx'
import { showMessage } from '../ui/undo.tsx'
import { Ago, Initials } from '../ui/values.tsx'
import { Invitations } from './invitations.tsx'
import { keysLeft, type MemberChange, MemberDialog } from './members-page-dialog.tsx'
import { type Role, roles } from './roles.ts'
import { SettingsFrame } from './settings-frame.tsx'

// The service hands over this number of records before it answers, and the others afterwards.
const at_once = 50

const Invite = laterDialog(async () => (await import('./invite.tsx')).Invite)

type Member = Schemas['Member']

/** The members and their roles, with inviting and removing. */
export function MembersPage() {
  const t = useTexts()
  const client = useQueryClient()
  const { user } = useSession()
  const writes = useMay()('members:write')
  const [inviting, setInviting] = useCreating()
  const [asked, setAsked] = useState<MemberChange | null>(null)
  const view = useListView()
  const query = { page: view.page, per_page: 50 }
  const page = useListPage(
    {
      queryKey: ['members', 'list', query],
      queryFn: ({ signal }) => answerOf(api.GET('/api/v1/members', { signal, params: { query } })),
    },
    view,
  )
  const refused = useRefusal()
  const handOver = useHandOver()
  /** `hand_to`: who gets the records of a removed member. */
  async function make(
    { member, role }: Omit<MemberChange, 'keys'>,
    revoke_keys: boolean,
    hand_to?: string | null,
  ) {
    const path = { user_id: member.id }
    const own = member.id === user.id
    const refresh = () =>
      Promise.all(['members', 'keys'].map((name) => client.invalidateQueries({ queryKey: [name] })))
    try {
      if (role === null) {
        const query = revoke_keys ? { revoke_keys: 'true' as const } : {}
        // A person who leaves has no session in this workspace afterwards.
        if (own && hand_to !== undefined) await handOver(member, hand_to)
        await removed(answerOf(api.DELETE('/api/v1/members/{user_id}', { params: { path, query } })))
        if (own) return window.location.assign('/sign-in')
        if (hand_to !== undefined) await handOver(member, hand_to)
      } else {
        const body = { role, ...(revoke_keys && { revoke_keys }) }
        await dataOf(api.PUT('/api/v1/members/{user_id}', { params: { path }, body }))
        showMessage(t.settings.role_changed({ name: member.name, role: t.people.roles[role] }))
        if (own) await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
      }
      await refresh()
    } catch (error) {
      refresh()
      throw refused(error)
    }
  }
  /**
   * Ask first: a person cannot restore a role that they gave away, and keys outlast the role that created
   * them.
   */
  async function change(member: Member, role: Role | null) {
    try {
      const keys = await keysLeft(member, role)
      if (role === null || keys || member.id === user.id) setAsked({ member, role, keys })
      else await make({ member, role }, false)
    } catch (error) {
      showProblem(error, t)
    }
  }
  const columns = useColumns(writes ? change : null)
  return (
    <SettingsFrame
      title={t.settings.pages.members.label}
      count={page.meta?.total}
      actions={writes && <Button onClick={() => setInviting(true)}>{t.settings.invite}</Button>}
      api={{
        method: 'POST',
        path: '/invitations',
        body: { email: 'ada@example.com', role: 'member' },
      }}
    >
      <div className="members-table">
        <ListTable
          label={t.settings.pages.members.label}
          columns={columns}
          page={page}
          nameOf={({ name }) => name}
          empty={null}
        />
      </div>
      {writes && <Invitations writes />}
      <Invite opened={writes && inviting} onClose={() => setInviting(false)} />
      {asked && (
        <MemberDialog
          change={asked}
          onClose={() => setAsked(null)}
          onDo={(revoke_keys, hand_to) => make(asked, revoke_keys, hand_to)}
        />
      )}
    </SettingsFrame>
  )
}

/** Waits for the removal. A member who is gone already counts as removed, so that a repetition goes on. */
const removed = (removal: Promise<unknown>) =>
  removal.catch((error) => {
    if (!isGone(error)) throw error
  })

/** Gives the records of a member to another one, or to nobody. */
function useHandOver() {
  const t = useTexts()
  const ownerNameOf = useOwnerName()
  return async ({ id, name }: Member, to: string | null) => {
    const path = { user_id: id }
    const { count } = await dataOf(
      api.POST('/api/v1/members/{user_id}/reassign', { params: { path }, body: { to } }),
    )
    const who = to && (ownerNameOf(to) ?? '')
    showMessage(
      t.settings.handed_over({ n: count, from: name, to: who ?? t.record.no_one, later: count > at_once }),
    )
  }
}

/** The messages for the rules about owners. */
function useRefusal() {
  const t = useTexts()
  return (error: unknown): unknown => {
    if (!(error instanceof Problem)) return error
    const text = { 409: t.settings.last_owner, 403: t.settings.owners_only }[error.status]
    // A conflict has its own message.
    return text ? new Problem(error.status, 'conflict', text, error.request_id) : error
  }
}

/** A role of null removes the member. */
type Changing = (member: Member, role: Role | null) => void

function useColumns(changing: Changing | null): Column<Member>[] {
  const t = useTexts()
  const { user, role: own_role } = useSession()
  const mine = (member: Member) => own_role === 'owner' || member.role !== 'owner'
  const given = roles.filter((role) => role !== 'owner' || own_role === 'owner')
  return [
    {
      id: 'name',
      label: t.fields.name,
      cell: ({ id, name }) => (
        <Group gap="sm" wrap="nowrap">
          <Initials name={name} />
          <span className="one-line" title={name}>
            {name}
            {id === user.id && <span className="soft"> ({t.settings.you})</span>}
          </span>
        </Group>
      ),
    },
    { id: 'email', label: t.fields.email, cell: ({ email }) => email },
    {
      id: 'role',
      label: t.fields.role,
      phone: true,
      cell: (member) =>
        changing && mine(member) ? (
          <Select
            size="xs"
            w={124}
            aria-label={t.settings.role_of({ name: member.name })}
            data={given.map((role) => ({ value: role, label: t.people.roles[role] }))}
            value={member.role}
            onChange={(role) => role && role !== member.role && changing(member, role as Role)}
          />
        ) : (
          t.people.roles[member.role]
        ),
    },
    { id: 'created_at', label: t.settings.member_since, cell: ({ created_at }) => <Ago at={created_at} /> },
    ...(changing
      ? [
          {
            id: 'remove',
            label: t.app.actions,
            phone: true,
            number: true,
            cell: (member: Member) =>
              mine(member) && (
                <ActionIcon
                  color="red"
                  aria-label={
                    member.id === user.id ? t.settings.leave : t.settings.remove_of({ name: member.name })
                  }
                  title={member.id === user.id ? t.settings.leave : t.app.remove}
                  onClick={() => changing(member, null)}
                >
                  {member.id === user.id ? <SignOutIcon /> : <XIcon />}
                </ActionIcon>
              ),
          },
        ]
      : []),
  ]
}
