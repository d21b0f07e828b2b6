import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api, dataOf, forEach, type Schemas } from '../api/client.ts'
import { ProblemNote, showProblem } from '../app/problems.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { Ago, Badge } from '../ui/values.tsx'
import { Section } from './section.tsx'

type Session = Schemas['Session']

/** The person's sessions. Each one but this can be ended here. */
export function Sessions() {
  const t = useTexts()
  const client = useQueryClient()
  const [ending, setEnding] = useState(false)
  const { data, error, refetch } = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/sessions', { signal, params: { query: { per_page: 100 } } })),
  })
  const others = (data ?? []).filter(({ current }) => !current)
  async function end(sessions: Session[]) {
    setEnding(true)
    const { failed } = await forEach(sessions, ({ id }) =>
      answerOf(api.DELETE('/api/v1/sessions/{session_id}', { params: { path: { session_id: id } } })),
    )
    if (failed[0]) showProblem(failed[0].problem, t)
    await client.invalidateQueries({ queryKey: ['sessions'] })
    setEnding(false)
  }
  return (
    <Section
      title={t.settings.sessions}
      beside={
        others.length > 1 && (
          <Button variant="default" loading={ending} onClick={() => end(others)}>
            {t.settings.end_others}
          </Button>
        )
      }
    >
      {error && <ProblemNote error={error} onRetry={refetch} />}
      <ul>
        {data?.map((session) => {
          const { id, current, user_agent, address, last_used_at } = session
          const device = deviceOf(user_agent) ?? t.settings.unknown_device
          return (
            <li key={id} className="settings-row">
              <span>
                <span title={user_agent ?? undefined}>{device}</span>
                <span className="soft"> {address}</span>
              </span>
              <span className="soft">
                {t.settings.last_used} <Ago at={last_used_at} />
              </span>
              {current ? (
                <Badge>{t.settings.this_one}</Badge>
              ) : (
                <Button
                  variant="subtle"
                  color="red"
                  aria-label={t.settings.end_session_of({ device })}
                  disabled={ending}
                  onClick={() => end([session])}
                >
                  {t.settings.end_session}
                </Button>
              )}
            </li>
          )
        })}
      </ul>
    </Section>
  )
}

const browsers = [/(Edg)\//, /(OPR)\//, /(Firefox)\//, /(Chrome)\//, /(Safari)\//]
const systems = [/(iPhone|iPad)/, /(Android)/, /(Windows)/, /(Mac OS)/, /(Linux)/]
const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera', 'Mac OS': 'macOS' }

/** The browser and system of a User-Agent, if known. */
function deviceOf(user_agent: string | null): string | null {
  if (!user_agent) return null
  const found = [browsers, systems].flatMap((kinds) => {
    const name = kinds.map((kind) => kind.exec(user_agent)?.[1]).find(Boolean)
    return name ? [names[name] ?? name] : []
  })
  return found.length ? found.join(', ') : user_agent.slice(0, 60)
}
