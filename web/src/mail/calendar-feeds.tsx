import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import { ShownOnceDialog } from '../settings/shown-once-dialog.tsx'
import { useTexts } from '../texts/with-mail.ts'
import { Select } from '../ui/late-inputs.tsx'
import { Ago } from '../ui/values.tsx'
import { OwnAddresses } from './own-addresses.tsx'

type Feed = Schemas['CalendarFeed']
type Fields = Pick<Feed, 'name' | 'activities' | 'details'>

const path = '/api/v1/calendar-feeds'
const one = `${path}/{feed_id}` as const
const empty: Fields = { name: '', activities: 'none', details: 'full' }
const startOf = ({ name, activities, details }: Feed): Fields => ({ name, activities, details })
const paramsOf = ({ id }: Feed) => ({ path: { feed_id: id } })
const choices = <Code extends string>(texts: Record<Code, string>) =>
  (Object.keys(texts) as Code[]).map((value) => ({ value, label: texts[value] }))

/** The addresses by which the person's calendar programs read their appointments. */
export function CalendarFeeds() {
  const { mail } = useTexts()
  const [url, setUrl] = useState<string | null>(null)
  return (
    <>
      <OwnAddresses
        texts={{
          title: mail.feeds,
          text: mail.feeds_text,
          add: mail.feed_make,
          delete_text: mail.feed_delete_text,
          change_of: mail.feed_change_of,
          delete_of: mail.feed_delete_of,
        }}
        query={{
          queryKey: ['calendar-feeds'],
          queryFn: ({ signal }) => dataOf(api.GET(path, { signal })),
        }}
        row={({ last_read_at }) => (
          <span className="soft">
            {last_read_at ? (
              <>
                {mail.feed_read} <Ago at={last_read_at} />
              </>
            ) : (
              mail.feed_unread
            )}
          </span>
        )}
        empty={empty}
        startOf={startOf}
        create={(body) => dataOf(api.POST(path, { body }))}
        onCreated={(made) => setUrl(made.url)}
        change={(feed, body) => dataOf(api.PUT(one, { params: paramsOf(feed), body }))}
        remove={(feed) => answerOf(api.DELETE(one, { params: paramsOf(feed) }))}
        form={({ values, getInputProps }) => (
          <>
            <TextInput
              label={mail.feed_name}
              description={mail.feed_name_text}
              data-autofocus
              {...getInputProps('name')}
            />
            <Select
              label={mail.feed_details}
              data={choices(mail.feed_detail)}
              allowDeselect={false}
              {...getInputProps('details')}
            />
            {values.details === 'full' && (
              <Select
                label={mail.feed_activities}
                data={choices(mail.feed_activity)}
                allowDeselect={false}
                {...getInputProps('activities')}
              />
            )}
          </>
        )}
      />
      <ShownOnceDialog
        opened={url !== null}
        onClose={() => setUrl(null)}
        title={mail.feed_title}
        text={mail.feed_text}
        value={url ?? ''}
        copy={mail.feed_copy}
      />
    </>
  )
}
