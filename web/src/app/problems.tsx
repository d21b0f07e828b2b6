import { Alert, Button, Group, Text } from '@mantine/core'
import { type FieldProblem, Problem } from '../api/client.ts'
import { type Texts, useTexts } from '../texts/texts.ts'
import { CopyButton } from '../ui/copy.tsx'
import { showToast } from '../ui/toast.ts'

/** What is wrong with a field, to be shown at it; what has no text here the service says itself, in English. */
export function fieldMessage({ code, message }: FieldProblem, { app }: Texts): string {
  const limited = app.field_limits[code as keyof typeof app.field_limits]
  // The limits themselves are known to the service alone: `probability must be from 0 to 100.`
  const { least, most, only_most } = limits.exec(message)?.groups ?? {}
  if (limited && (least || only_most)) return limited(least ?? '', most ?? only_most ?? '')
  return app.field_problems[code as keyof typeof app.field_problems] ?? message
}
const limits =
  /(?:from|at least|>=) (?<least>-?\d+)(?: to (?<most>-?\d+))?|(?:at most|<=) (?<only_most>-?\d+)/

/** Says what a conflict (409) means here, in the reader's words. */
export async function inWords<T>(asked: Promise<T>, conflict: string): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 409) throw error
    throw new Problem(409, 'conflict', conflict, error.request_id)
  }
}

/** What happened and what to do, in the reader's language; what the service says itself where it knows more. */
export function explain(error: unknown, texts: Texts): string {
  const { problems } = texts.app
  if (!(error instanceof Problem)) return problems.other
  const { code, message, fields } = error
  if (code === 'validation_failed')
    return fields[0] ? fieldMessage(fields[0], texts) : problems.validation_failed
  if (code === 'conflict' && message) return message
  return problems[code as keyof typeof problems] ?? (message || problems.other)
}

/** A failure where it happened: what happened, the request id to copy, and another try. */
export function ProblemNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const t = useTexts()
  const request_id = error instanceof Problem ? error.request_id : null
  return (
    <Alert color="red" variant="light" role="alert" my="sm" className="problem">
      <Text size="sm">{explain(error, t)}</Text>
      <Group gap="sm" mt="xs">
        {onRetry && (
          <Button variant="default" onClick={onRetry}>
            {t.app.retry}
          </Button>
        )}
        {request_id && <CopyButton value={request_id} label={`${t.app.request_id} ${request_id}`} />}
      </Group>
    </Alert>
  )
}

/** A failure of something that left no place to show it in; `told` where more is to be said than why. */
export function tellProblem(error: unknown, texts: Texts, told = explain(error, texts)): void {
  const request_id = error instanceof Problem ? error.request_id : null
  showToast({
    color: 'red',
    message: (
      <>
        <Text size="sm" mb={request_id ? 'xs' : 0}>
          {told}
        </Text>
        {request_id && <CopyButton value={request_id} label={`${texts.app.request_id} ${request_id}`} />}
      </>
    ),
    autoClose: 8000,
    withBorder: true,
    closeButtonProps: { 'aria-label': texts.app.close },
  })
}
