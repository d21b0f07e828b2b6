import { Alert, Button, Group, Text } from '@mantine/core'
import { type FieldProblem, Problem } from '../api/client.ts'
import { type Texts, useTexts } from '../texts/texts.ts'
import { CopyButton } from '../ui/copy.tsx'
import { showToast } from '../ui/toast.ts'

/** The message for an invalid field. A code without a text here shows the service's English message. */
export function fieldMessage({ field, code, message }: FieldProblem, { app, webhooks }: Texts): string {
  const limited = app.field_limits[code as keyof typeof app.field_limits]
  // Only the message of the service has the limits: `probability must be from 0 to 100.`
  const { least, most, only_most } = limits.exec(message)?.groups ?? {}
  if (limited && (least || only_most)) return limited(least ?? '', most ?? only_most ?? '')
  const of_webhook = /^(conditions|headers)(\.|$)/.test(field) && webhooks.field_problems
  if (of_webhook && code in of_webhook) return of_webhook[code as keyof typeof of_webhook]
  return app.field_problems[code as keyof typeof app.field_problems] ?? message
}
const limits =
  /(?:from|at least|>=) (?<least>-?\d+)(?: to (?<most>-?\d+))?|(?:at most|<=) (?<only_most>-?\d+)/

/** Replaces the message of a conflict (409) with one that fits the action. */
export async function inWords<T>(asked: Promise<T>, conflict: string): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 409) throw error
    throw new Problem(409, 'conflict', conflict, error.request_id)
  }
}

/**
 * The message for an error: what happened and what to do. Uses the service's message where it is more
 * precise.
 */
export function explain(error: unknown, texts: Texts): string {
  const { problems } = texts.app
  if (!(error instanceof Problem)) return problems.other
  const { code, message, fields } = error
  if (code === 'validation_failed')
    return fields[0] ? fieldMessage(fields[0], texts) : problems.validation_failed
  if (code === 'conflict' && message) return message
  return problems[code as keyof typeof problems] ?? (message || problems.other)
}

/** What no repetition changes: the person may not do it, or it does not exist. */
const isFinal = (error: unknown): boolean => error instanceof Problem && [403, 404].includes(error.status)

/** An error in place: the message, the request id to copy, and a retry button where a retry can help. */
export function ProblemNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const t = useTexts()
  const request_id = error instanceof Problem ? error.request_id : null
  return (
    <Alert color="red" variant="light" role="alert" my="sm" className="problem">
      <Text size="sm">{explain(error, t)}</Text>
      <Group gap="sm" mt="xs">
        {onRetry && !isFinal(error) && (
          <Button variant="default" onClick={onRetry}>
            {t.app.retry}
          </Button>
        )}
        {request_id && <CopyButton value={request_id} label={`${t.app.request_id} ${request_id}`} />}
      </Group>
    </Alert>
  )
}

/**
 * Shows an error in a toast, for an action without a place of its own. `message` replaces the default
 * message.
 */
export function showProblem(error: unknown, texts: Texts, message = explain(error, texts)): void {
  const request_id = error instanceof Problem ? error.request_id : null
  showToast({
    color: 'red',
    message: (
      <>
        <Text size="sm" mb={request_id ? 'xs' : 0}>
          {message}
        </Text>
        {request_id && <CopyButton value={request_id} label={`${texts.app.request_id} ${request_id}`} />}
      </>
    ),
    autoClose: 8000,
    withBorder: true,
    closeButtonProps: { 'aria-label': texts.app.close },
  })
}
