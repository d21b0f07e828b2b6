import { Alert, Button, Group } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import { isComposing } from '../app/composition.ts'
import { useNavigate } from '../app/link.ts'
import { showProblem } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { SettingsFrame } from '../settings/settings-frame.tsx'
import { useTexts } from '../texts/with-mail.ts'
import { useDoing } from '../ui/doing.ts'
import { Empty } from '../ui/empty.tsx'
import { ListTable, useListPage } from '../ui/list-page.tsx'
import { useAddress, useListView } from '../ui/list-view.ts'
import type { Column } from '../ui/table.tsx'
import { showMessage } from '../ui/undo.tsx'
import { Ago } from '../ui/values.tsx'
import { Status } from '../webhooks/statuses.tsx'
import { often_ms, useMailServer } from './mail-queries.ts'
import '../webhooks/deliveries.css'

type Mail = Schemas['Mail']

/** The log of mails, the state of the SMTP server, and the test mail. */
export function MailsPage() {
  const t = useTexts()
  const view = useListView()
  const { address } = useAddress()
  const writes = useMay()('mails:write')
  const { data: server } = useMailServer()
  const { status, kind, recipient } = address
  const query = {
    page: view.page,
    per_page: 50,
    ...(status && { status }),
    ...(kind && { kind }),
    ...(recipient && { recipient }),
  }
  const page = useListPage(
    {
      queryKey: ['mails', 'list', query],
      queryFn: ({ signal }) => answerOf(api.GET('/api/v1/mails', { params: { query }, signal })),
      refetchInterval: often_ms,
    },
    view,
  )
  const filtered = Boolean(status || kind || recipient)
  return (
    <SettingsFrame
      title={t.settings.pages.mail.label}
      count={page.meta?.total}
      whole
      actions={writes && server?.configured && <TestMail />}
      api={{ path: '/mails' }}
    >
      <ServerState />
      <Filters />
      <div className="settings-table">
        <ListTable
          label={t.settings.pages.mail.label}
          columns={useColumns()}
          nameOf={({ subject, recipient }) => `${subject}, ${recipient}`}
          hrefOf={({ id }) => `/settings/mail/${id}`}
          page={page}
          empty={<Empty text={filtered ? t.app.nothing_found : t.mail.none} />}
        />
      </div>
    </SettingsFrame>
  )
}

function useColumns(): Column<Mail>[] {
  const t = useTexts()
  return [
    {
      id: 'subject',
      label: t.mail.subject,
      phone: true,
      cell: ({ subject }) => subject || t.mail.mail,
    },
    {
      id: 'recipient',
      label: t.mail.recipient,
      phone: true,
      cell: ({ recipient }) => <bdi>{recipient}</bdi>,
    },
    { id: 'kind', label: t.mail.kind, cell: ({ kind }) => t.mail.kinds[kind] },
    {
      id: 'status',
      label: t.fields.status,
      phone: true,
      cell: ({ status }) => <Status status={status} label={t.mail.statuses[status]} />,
    },
    { id: 'created_at', label: t.fields.created_at, cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      id: 'next',
      label: t.settings.next_attempt,
      cell: ({ next_attempt_at }) => next_attempt_at && <Ago at={next_attempt_at} />,
    },
  ]
}

function Filters() {
  const t = useTexts()
  const { address, change } = useAddress()
  const set = (part: object) => change({ ...part, page: null }, true)
  const { status, kind, recipient } = address
  return (
    <Group px="md" py="sm" gap="sm">
      <Choice
        label={t.fields.status}
        all={t.mail.all_statuses}
        labels={t.mail.statuses}
        value={status}
        onChange={(status) => set({ status })}
      />
      <Choice
        label={t.mail.kind}
        all={t.mail.all_kinds}
        labels={t.mail.kinds}
        value={kind}
        onChange={(kind) => set({ kind })}
      />
      <input
        type="search"
        className="mail-filter"
        aria-label={t.mail.recipient}
        placeholder={t.mail.recipient}
        defaultValue={recipient ?? ''}
        onKeyDown={({ key, currentTarget, nativeEvent }) =>
          key === 'Enter' &&
          !isComposing(nativeEvent) &&
          set({ recipient: currentTarget.value.trim() || null })
        }
        onBlur={({ currentTarget }) => set({ recipient: currentTarget.value.trim() || null })}
      />
    </Group>
  )
}

type ChoiceProps = {
  label: string
  /** The label of no choice. */
  all: string
  labels: Record<string, string>
  value: string | undefined
  onChange: (value: string) => void
}

/** A select of the browser: that of Mantine would make the pages larger that share its parts. */
function Choice({ label, all, labels, value = '', onChange }: ChoiceProps) {
  return (
    <select
      className="mail-filter"
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    >
      <option value="">{all}</option>
      {Object.entries(labels).map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  )
}

function ServerState() {
  const t = useTexts()
  const { data: server } = useMailServer()
  const { data: unsent } = useQuery({
    queryKey: ['mails', 'unsent'],
    enabled: server?.configured === false,
    refetchInterval: often_ms,
    queryFn: ({ signal }) =>
      answerOf(api.GET('/api/v1/mails', { params: { query: { status: 'not_sent', per_page: 1 } }, signal })),
  })
  if (!server) return null
  const { configured, host, port, from, status, last_error } = server
  const name = `${host}:${port}`
  if (!configured)
    return (
      <Alert color="yellow" variant="light" m="md">
        <strong>{t.mail.off({ count: unsent?.meta.total ?? 0 })}</strong> {t.mail.off_hint}
      </Alert>
    )
  if (status === 'failing')
    return (
      <Alert color="red" variant="light" m="md">
        <strong>{t.mail.failing({ server: name })}</strong>{' '}
        {last_error && (
          <code lang="en">
            {last_error.code}: {last_error.message}
          </code>
        )}
      </Alert>
    )
  return <p className="settings-hint hint">{t.mail.working({ server: name, from: from ?? '' })}</p>
}

function TestMail() {
  const t = useTexts()
  const client = useQueryClient()
  const navigate = useNavigate()
  const { doing, run } = useDoing()
  async function send() {
    const mail = await dataOf(api.POST('/api/v1/mails/test', { body: {} }))
    client.invalidateQueries({ queryKey: ['mails'] })
    if (mail.status === 'sent') showMessage(t.mail.test_sent({ recipient: mail.recipient }))
    else {
      showMessage(t.mail.test_failed)
      navigate({ to: `/settings/mail/${mail.id}` })
    }
  }
  return (
    <Button loading={doing} onClick={() => run(send, (error) => showProblem(error, t))}>
      {t.mail.test}
    </Button>
  )
}
