import { Button, Checkbox, Group, Input, Progress, Skeleton, Stack, Text } from '@mantine/core'
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import { recordApi } from '../api/record-api.ts'
import { useFormats } from '../app/formats.ts'
import { ProblemNote } from '../app/problems.tsx'
import { instantOf } from '../app/zones.ts'
import { useAllKinds } from '../record/kinds.ts'
import { Ask } from '../settings/ask.tsx'
import { Section } from '../settings/section.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { MomentInput } from '../ui/inputs.tsx'
import { useRecordForm } from '../ui/record-form.ts'
import { unreadIn } from '../ui/unread.ts'

type Backfill = Schemas['Backfill']
type Kind = NonNullable<Schemas['WebhookBackfillCreate']['kinds']>[number]
const path = '/api/v1/webhooks/{webhook_id}/backfill'

type Props = { webhook_id: string; paused: boolean; writes: boolean; deleting: boolean }

/** Sends the present records to a webhook: the form, or the progress. */
export function WebhookBackfill({ webhook_id, paused, writes, deleting }: Props) {
  const t = useTexts()
  const client = useQueryClient()
  const queryKey = ['webhooks', webhook_id, 'backfill']
  const params = { path: { webhook_id } }
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => dataOf(api.GET(path, { signal, params })),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? 1000 : 10_000),
    enabled: !deleting,
  })
  const keep = (backfill: Backfill) => client.setQueryData(queryKey, backfill)
  async function stop() {
    await answerOf(api.DELETE(path, { params }))
    await refetch()
  }
  return (
    <Section title={t.webhooks.backfill}>
      <p className="settings-hint hint">{t.webhooks.backfill_text}</p>
      {error && !data ? (
        <ProblemNote error={error} onRetry={refetch} />
      ) : !data ? (
        <Skeleton h={60} />
      ) : data.status === 'running' ? (
        <Running backfill={data} paused={paused} onStop={writes ? stop : undefined} />
      ) : (
        <Stack gap="sm">
          <Ended backfill={data} />
          {writes && (
            <Start
              send={async (body) => keep(await dataOf(api.POST(path, { params, body })))}
              onRefused={() => void refetch()}
            />
          )}
        </Stack>
      )}
    </Section>
  )
}

type RunningProps = { backfill: Backfill; paused: boolean; onStop?: (() => Promise<unknown>) | undefined }

function Running({ backfill: { sent, total }, paused, onStop }: RunningProps) {
  const t = useTexts()
  const [asking, setAsking] = useState(false)
  const text = t.webhooks.progress_text({ sent, total })
  return (
    <Stack gap="xs" maw={560}>
      <Progress.Root>
        <Progress.Section
          value={total ? (100 * sent) / total : 100}
          aria-label={t.webhooks.progress}
          aria-valuetext={text}
        />
      </Progress.Root>
      <Group justify="space-between">
        <Text size="sm" className="numbers">
          {text}
        </Text>
        {onStop && (
          <Button variant="default" onClick={() => setAsking(true)}>
            {t.webhooks.stop_backfill}
          </Button>
        )}
      </Group>
      {paused && <p className="hint">{t.webhooks.backfill_paused}</p>}
      {onStop && (
        <Ask
          title={t.webhooks.stop_backfill}
          text={t.webhooks.stop_text}
          action={t.webhooks.stop_backfill}
          opened={asking}
          onClose={() => setAsking(false)}
          onDo={onStop}
        />
      )}
    </Stack>
  )
}

function Ended({ backfill: { status, sent, total, finished_at } }: { backfill: Backfill }) {
  const t = useTexts()
  const { moment } = useFormats()
  if (status !== 'succeeded' && status !== 'cancelled') return null
  return (
    <Text size="sm" role="status" className="numbers">
      {t.webhooks.backfill_ended[status]({ sent, total, at: moment(finished_at ?? '') })}
    </Text>
  )
}

type StartProps = {
  send: (body: { kinds: Kind[]; since: string | null }) => Promise<unknown>
  onRefused: () => void
}

function Start({ send, onRefused }: StartProps) {
  const t = useTexts()
  const { zone } = useFormats()
  const kinds = useAllKinds().filter(({ events }) => events.length)
  const { form, submit, sending, problem } = useRecordForm({
    kinds: [] as Kind[],
    since: null as string | null,
  })
  const chosen = form.getValues().kinds
  async function start() {
    const sent = await submit(({ kinds, since }) =>
      send({ kinds, since: since ? instantOf(since, zone) : null }),
    )
    if (!sent) onRefused()
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        const unread = unreadIn(event.currentTarget)
        if (unread) return unread.focus()
        start()
      }}
    >
      <Stack gap="md">
        <fieldset>
          <legend className="settings-legend">{t.webhooks.kinds}</legend>
          <Group gap="md">
            {kinds.map(({ kind }) => (
              <Checkbox
                key={kind}
                size="xs"
                label={t.kinds[kind].many}
                checked={chosen.includes(kind as Kind)}
                onChange={({ currentTarget: { checked } }) =>
                  form.setFieldValue(
                    'kinds',
                    kinds
                      .map((one) => one.kind as Kind)
                      .filter((one) => (one === kind ? checked : chosen.includes(one))),
                  )
                }
              />
            ))}
          </Group>
          {form.errors.kinds && <Input.Error role="alert">{form.errors.kinds}</Input.Error>}
        </fieldset>
        <MomentInput
          maw={320}
          label={t.webhooks.changed_since}
          description={t.webhooks.changed_since_text}
          {...form.getInputProps('since')}
        />
        <Group>
          <Button type="submit" variant="default" loading={sending} disabled={!chosen.length}>
            {t.webhooks.start_backfill}
          </Button>
          <Count kinds={chosen} exact={!form.getValues().since} />
        </Group>
      </Stack>
      {problem ? <ProblemNote error={problem} /> : null}
    </form>
  )
}

/** The number of records of the chosen kinds. It is known without a time only. */
function Count({ kinds, exact }: { kinds: Kind[]; exact: boolean }) {
  const t = useTexts()
  const lists = useQueries({
    queries: kinds.map((kind) => recordApi(kind).listQuery({ per_page: 1, page: 1 })),
  })
  const totals = lists.map(({ data }) => (data as { meta?: { total?: number } } | undefined)?.meta?.total)
  if (!kinds.length || totals.some((total) => total === undefined)) return null
  const sum = totals.reduce<number>((all, total) => all + (total ?? 0), 0)
  return (
    <Text size="sm" c="dimmed" role="status" className="numbers">
      {t.webhooks.at_most({ n: sum, exact })}
    </Text>
  )
}
