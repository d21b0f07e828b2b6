import { SegmentedControl } from '@mantine/core'
import { useId, useState } from 'react'
import { useTexts } from '../texts/with-settings.ts'
import { CopyButton } from '../ui/copy.tsx'
import { Json, prettyOf } from './json.tsx'

type Props = {
  title: string
  /** The first line: method and URL, or the status. */
  line: string
  headers: Record<string, string>
  body: string
  actions?: React.ReactNode
}

/** A request or response: first line, folded headers, and the body as JSON or raw. */
export function Message({ title, line, headers, body, actions }: Props) {
  const t = useTexts()
  const id = useId()
  const [raw, setRaw] = useState(false)
  const pretty = prettyOf(body)
  const entries = Object.entries(headers)
  return (
    <section className="message" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <code className="message-line">{line}</code>
      <details className="message-headers">
        <summary>{t.settings.headers({ n: entries.length })}</summary>
        <dl>
          {entries.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
      <div className="message-tools">
        {pretty !== null && (
          <SegmentedControl
            size="xs"
            aria-label={t.settings.body_view}
            data={[
              { value: 'pretty', label: t.settings.pretty },
              { value: 'raw', label: t.settings.raw },
            ]}
            value={raw ? 'raw' : 'pretty'}
            onChange={(value) => setRaw(value === 'raw')}
          />
        )}
        {body !== '' && <CopyButton value={body} label={t.settings.copy_body} />}
        {actions}
      </div>
      {body === '' ? (
        <p className="settings-hint hint">{t.settings.empty_body}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        <section className="message-body" tabIndex={0} aria-label={`${title}: ${t.settings.body}`}>
          <pre>{pretty === null || raw ? body : <Json text={pretty} />}</pre>
        </section>
      )}
    </section>
  )
}
