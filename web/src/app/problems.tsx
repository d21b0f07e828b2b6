import { Alert, Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { type FieldProblem, Problem } from '../api/client.ts'
import { type Texts, useTexts } from '../texts/texts.ts'
import { CopyButton } from '../ui/copy.tsx'

/** What is wrong with a field, to be shown at it. What only the service knows, such as a limit, it says itself. */
export function fieldMessage({ code, message }: FieldProblem, texts: Texts): string {
  return texts.app.field_problems[code as keyof Texts['app']['field_problems']] ?? message
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
    <Alert color="red" variant="light" role="alert" my="sm">
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

/** A failure of something that left no place to show it in. */
export function tellProblem(error: unknown, texts: Texts): void {
  const request_id = error instanceof Problem ? error.request_id : null
  notifications.show({
    color: 'red',
    message: explain(error, texts) + (request_id ? ` (${request_id})` : ''),
    autoClose: 8000,
    withBorder: true,
    closeButtonProps: { 'aria-label': texts.app.close },
  })
}
