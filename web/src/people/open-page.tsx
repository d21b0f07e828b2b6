import { Alert, Button, Stack, Title } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useEffect, useState } from 'react'
import { Problem } from '../api/client.ts'
import { Link } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTitle } from '../app/title.ts'
import { useTexts } from '../texts/texts.ts'
import { focusWrong } from '../ui/focus.ts'
import { useRecordForm } from '../ui/record-form.ts'
import { waitText } from './wait-text.ts'
import './people.css'

type Props = { title: string; text?: React.ReactNode; children?: React.ReactNode }

/** The layout of pages without a session: one column with the name of the product. */
export function OpenPage({ title, text, children }: Props) {
  const t = useTexts()
  useTitle(title)
  return (
    <div className="open-page">
      <main className="open-card">
        <div className="open-name">{t.app.name}</div>
        <div className="open-body">
          <Title order={1}>{title}</Title>
          {text && <p className="open-text">{text}</p>}
          {children}
        </div>
      </main>
    </div>
  )
}

/** A page that leads to the sign-in, because there is nothing to do on it. */
export function DeadEnd({ title, text }: { title: string; text: string }) {
  const t = useTexts()
  return (
    <OpenPage title={title} text={text}>
      <Button component={Link} to="/sign-in" size="sm" mt="lg" fullWidth>
        {t.people.sign_in}
      </Button>
    </OpenPage>
  )
}

/** The seconds left to wait after an answer with retry-after; 0 when over. */
function useWait(problem: unknown): number {
  const [left_s, setLeft] = useState(0)
  useEffect(() => {
    const wait_s = problem instanceof Problem && problem.status === 429 ? problem.retry_after_s : 0
    const until_ms = Date.now() + wait_s * 1000
    const tick = () => setLeft(Math.max(0, Math.ceil((until_ms - Date.now()) / 1000)))
    tick()
    if (!wait_s) return
    const timer = setInterval(tick, 500)
    return () => clearInterval(timer)
  }, [problem])
  return left_s
}

type FormProps<Values extends Record<string, unknown>> = {
  action: string
  /** The values at first. */
  start: Values
  send: (values: Values) => Promise<unknown>
  /** The message that replaces that of the service; false for none. */
  messageOf?: (problem: Problem) => string | false
  children: (form: UseFormReturnType<Values>) => React.ReactNode
}

/** A form of such a page. After too many tries, it shows how long to wait. */
export function OpenForm<Values extends Record<string, unknown>>(props: FormProps<Values>) {
  const { action, start, send, messageOf, children } = props
  const t = useTexts()
  const { form, submit, sending, problem } = useRecordForm(start)
  const wait_s = useWait(problem)
  const throttled = problem instanceof Problem && problem.status === 429
  const message = problem instanceof Problem && messageOf?.(problem)
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        const shown = event.currentTarget
        if (!wait_s) submit(send).then((sent) => sent || focusWrong(shown))
      }}
    >
      <Stack gap="md" mt="lg">
        {children(form)}
        {problem && !throttled ? (
          message ? (
            <OpenNote text={message} />
          ) : (
            <ProblemNote error={problem} />
          )
        ) : null}
        {throttled && wait_s > 0 && <OpenNote text={waitText(wait_s, t)} />}
        <Button type="submit" size="sm" fullWidth loading={sending} disabled={wait_s > 0}>
          {action}
        </Button>
      </Stack>
    </form>
  )
}

/** The message of an error. */
export function OpenNote({ text }: { text: string }) {
  return (
    <Alert color="red" variant="light" role="alert" fz="sm">
      {text}
    </Alert>
  )
}
