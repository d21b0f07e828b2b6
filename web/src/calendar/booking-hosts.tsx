import { ActionIcon } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { useMembers, useOwnerName, useReadsMembers } from '../record/fields/members.ts'
import { useTexts } from '../texts/with-booking.ts'
import { focusBeside } from '../ui/focus.ts'
import { NumberInput, Select } from '../ui/late-inputs.tsx'
import { problemOfList } from '../ui/list-problems.ts'
import { assignments, type Draft, stale_calendars } from './booking.ts'
import type { Problems } from './hours-editor.tsx'

type Props = { draft: Draft; problems: Problems; onChange: (changes: Partial<Draft>) => void }

/** The hosts of a booking page. */
export function BookingHosts({ draft: { hosts, ...draft }, problems, onChange }: Props) {
  const t = useTexts()
  const reads = useReadsMembers()
  const { members = [] } = useMembers()
  const nameOf = useOwnerName()
  const [added, setAdded] = useState(0)
  const of_hosts = Object.fromEntries(
    Object.entries(problems).filter(([field]) => !field.endsWith('.weight')),
  )
  // A host who has left the workspace must be removed, whatever else is changed.
  const left = hosts.flatMap(({ user_id }, at) => {
    const problem = problems[`hosts.${at}.user_id`]
    return problem ? `${nameOf(user_id) ?? user_id}: ${problem}` : []
  })
  const others = members.filter(({ id }) => !hosts.some(({ user_id }) => user_id === id))
  /** A second host needs an assignment for several. */
  function add(user_id: string) {
    setAdded(added + 1)
    onChange({
      hosts: [...hosts, { user_id, weight: 1, stale_since: null }],
      ...(hosts.length && draft.assignment === 'fixed' && { assignment: 'round_robin' as const }),
    })
  }
  return (
    <fieldset className="booking-part">
      <legend>{t.calendar.hosts}</legend>
      <p className="booking-hint hint">{t.booking.hosts_hint}</p>
      {hosts.map((host, at) => {
        const name = nameOf(host.user_id) ?? host.user_id
        return (
          <div key={host.user_id} ref={focusBeside} className="booking-host">
            <span className="one-line">{name}</span>
            {draft.assignment === 'round_robin' && (
              <NumberInput
                aria-label={t.booking.host_weight({ name })}
                w={90}
                min={1}
                max={100}
                allowDecimal={false}
                value={host.weight ?? ''}
                error={problems[`hosts.${at}.weight`]}
                onChange={(weight) => {
                  const changed = { ...host, weight: weight === '' ? null : Number(weight) }
                  onChange({ hosts: hosts.with(at, changed) })
                }}
              />
            )}
            <ActionIcon
              aria-label={t.booking.remove_host({ name })}
              onClick={() => onChange({ hosts: hosts.filter((one) => one !== host) })}
            >
              <XIcon />
            </ActionIcon>
          </div>
        )
      })}
      {reads && (
        <Select
          label={t.booking.add_host}
          searchable
          // Each choice begins anew, and takes the focus back.
          key={added}
          autoFocus={added > 0}
          openOnFocus={false}
          data={others.map(({ id, label }) => ({ value: id, label }))}
          value={null}
          error={left[0] ?? problemOfList(of_hosts, 'hosts')}
          onChange={(id) => id && add(id)}
        />
      )}
      {hosts.length > 0 && (
        <div className="form-pair">
          <Select
            label={t.booking.assignment}
            data={assignments.map((value) => ({ value, label: t.booking.assignments[value] }))}
            value={draft.assignment}
            allowDeselect={false}
            error={problems.assignment}
            onChange={(value) => onChange({ assignment: value as Draft['assignment'] })}
          />
          <Select
            label={t.booking.stale_calendars}
            data={stale_calendars.map((value) => ({ value, label: t.booking.stale[value] }))}
            value={draft.stale_calendars}
            allowDeselect={false}
            error={problems.stale_calendars}
            onChange={(value) => onChange({ stale_calendars: value as Draft['stale_calendars'] })}
          />
        </div>
      )}
    </fieldset>
  )
}
