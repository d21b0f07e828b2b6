import { Alert, Button, Stack, Title } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Problem } from '../api/client.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTitle } from '../app/title.ts'
import { useTexts } from '../texts/texts.ts'
import { focusWrong } from '../ui/focus.ts'
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

type FormProps = {
  action: string
  sending: boolean
  problem: unknown
  /** Messages that replace those of the service. */
  message?: string | null
  /** Resolves to whether it was sent. */
  onSubmit: () => Promise<boolean>
  children: React.ReactNode
}

/** A form of such a page. After too many tries, it shows how long to wait. */
export function OpenForm({ action, sending, problem, message, onSubmit, children }: FormProps) {
  const t = useTexts()
  const wait_s = useWait(problem)
  const throttled = problem instanceof Problem && problem.status === 429
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        const form = event.currentTarget
        if (!wait_s) onSubmit().then((sent) => sent || focusWrong(form))
      }}
    >
      <Stack gap="md" mt="lg">
        {children}
        {problem && !throttled ? (
          message ? (
            <OpenNote text={message} />
          ) : (
            <ProblemNote error={problem} />
          )
        ) : null}
        {throttled && wait_s > 0 && <OpenNote text={t.people.wait(wait_s)} />}
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
