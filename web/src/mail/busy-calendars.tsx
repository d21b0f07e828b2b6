import { Button, TextInput } from '@mantine/core'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import { showProblem } from '../app/problems.tsx'
import { Password } from '../people/inputs.tsx'
import { useTexts } from '../texts/with-mail.ts'
import { useDoing } from '../ui/doing.ts'
import { Ago } from '../ui/values.tsx'
import { OwnAddresses } from './own-addresses.tsx'

type Calendar = Schemas['BusyCalendar']
type Fields = { name: string; url: string; username: string; password: string }

const path = '/api/v1/busy-calendars'
const one = `${path}/{calendar_id}` as const
const empty: Fields = { name: '', url: '', username: '', password: '' }
const startOf = ({ name, url, username, password }: Calendar): Fields => ({
  name,
  url,
  username: username ?? '',
  password: password ?? '',
})
const bodyOf = ({ name, url, username, password }: Fields) => ({
  name: name || null,
  url,
  username: username || null,
  password: password || null,
})
const paramsOf = ({ id }: Calendar) => ({ path: { calendar_id: id } })

/** Calendars of other programs, whose times booking pages do not offer. */
export function BusyCalendars() {
  const { mail } = useTexts()
  return (
    <OwnAddresses
      texts={{
        title: mail.busy,
        text: mail.busy_text,
        add: mail.busy_add,
        delete_text: mail.busy_delete_text,
        change_of: mail.busy_change_of,
        delete_of: mail.busy_delete_of,
      }}
      query={{
        queryKey: ['busy-calendars'],
        queryFn: ({ signal }) => dataOf(api.GET(path, { signal })),
        // The first poll ends soon.
        refetchInterval: ({ state }) =>
          state.data?.some(({ status }) => status === 'waiting') ? 1000 : false,
      }}
      row={(calendar, refresh) => (
        <>
          <State calendar={calendar} />
          <ReadNow calendar={calendar} onRead={refresh} />
        </>
      )}
      empty={empty}
      startOf={startOf}
      create={(fields) => dataOf(api.POST(path, { body: bodyOf(fields) }))}
      change={(calendar, fields) =>
        dataOf(api.PUT(one, { params: paramsOf(calendar), body: bodyOf(fields) }))
      }
      remove={(calendar) => answerOf(api.DELETE(one, { params: paramsOf(calendar) }))}
      form={({ getInputProps }) => (
        <>
          <TextInput
            label={mail.busy_url}
            description={mail.busy_url_text}
            data-autofocus
            {...getInputProps('url')}
          />
          <TextInput label={mail.feed_name} description={mail.busy_name_text} {...getInputProps('name')} />
          <TextInput
            label={mail.busy_username}
            description={mail.busy_signs_in}
            autoComplete="off"
            {...getInputProps('username')}
          />
          <Password label={mail.busy_password} autoComplete="new-password" {...getInputProps('password')} />
        </>
      )}
    />
  )
}

/** The outcome of the last poll. */
function State({ calendar }: { calendar: Calendar }) {
  const t = useTexts()
  const { status, stale, busy_count, skipped_count, last_read_at, last_error } = calendar
  const errors = t.mail.busy_errors as Record<string, string | undefined>
  const skipped = skipped_count ? ` · ${t.mail.busy_skipped({ count: skipped_count })}` : ''
  return (
    <span className="soft" role="status">
      {status === 'waiting' && t.mail.busy_waiting}
      {last_error && (
        <span
          title={last_error.message}
        >{`${t.mail.busy_failing} ${errors[last_error.code] ?? last_error.code} `}</span>
      )}
      {last_read_at && (
        <>
          {t.mail.busy_times({ count: busy_count })}
          {skipped} · {stale ? t.mail.busy_stale : t.mail.feed_read} <Ago at={last_read_at} />
        </>
      )}
    </span>
  )
}

function ReadNow({ calendar, onRead }: { calendar: Calendar; onRead: () => unknown }) {
  const t = useTexts()
  const { doing, run } = useDoing()
  async function read() {
    const reading = () => dataOf(api.POST(`${one}/refresh`, { params: paramsOf(calendar), body: {} }))
    await run(reading, (error) => showProblem(error, t))
    await onRead()
  }
  return (
    <Button
      variant="subtle"
      loading={doing}
      aria-label={t.mail.busy_read_of({ name: calendar.name })}
      onClick={read}
    >
      {t.mail.busy_read}
    </Button>
  )
}
