import { Alert } from '@mantine/core'
import type { Schemas } from '../api/client.ts'
import { useTexts } from '../texts/with-settings.ts'
import { CopyButton } from '../ui/copy.tsx'
import { Message } from './message.tsx'

type Attempt = Schemas['Attempt']

/**
 * An attempt: why it failed and what to do, then request and response side by side. All attempts of a
 * delivery send the same body.
 */
export function AttemptDetail({ attempt, body }: { attempt: Attempt; body: string }) {
  const t = useTexts()
  const { request, response, error } = attempt
  return (
    <>
      {error && <Failure error={error} />}
      <div className="messages">
        <Message
          title={t.settings.request}
          line={`POST ${request.url}`}
          headers={request.headers}
          body={body}
          actions={<CopyButton value={curlOf(request, body)} label={t.settings.copy_curl} />}
        />
        {response ? (
          <Message
            title={t.settings.response}
            line={`HTTP ${response.status}`}
            headers={response.headers}
            body={response.body}
          />
        ) : (
          <section className="message" aria-label={t.settings.response}>
            <h3>{t.settings.response}</h3>
            <p className="settings-hint hint">{t.settings.no_response}</p>
          </section>
        )}
      </div>
    </>
  )
}

function Failure({ error: { code, message } }: { error: NonNullable<Attempt['error']> }) {
  const t = useTexts()
  const errors = t.settings.errors as Record<string, { name: string; hint: string } | undefined>
  const known = errors[code]
  return (
    <Alert color="red" variant="light" title={known?.name ?? code} fz="sm" mb="md">
      {known?.hint}
      <details className="failure-code">
        <summary>
          <code>{code}</code>
        </summary>
        <code lang="en">{message}</code>
      </details>
    </Alert>
  )
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The request as a curl command. */
function curlOf({ url, headers }: Attempt['request'], body: string): string {
  const options = Object.entries(headers)
    // Headers that curl sets itself.
    .filter(([name]) => !/^(host|content-length|connection|transfer-encoding)$/i.test(name))
    .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  return [`curl -X POST ${quoted(url)}`, ...options, `--data-raw ${quoted(body)}`].join(' \\\n  ')
}
