import { Alert, Button, Group, Text } from '@mantine/core'
import { Problem } from '../api/client.ts'
import { type Texts, useTexts } from '../texts/texts.ts'
import { CopyButton } from '../ui/copy.tsx'
import { showToast } from '../ui/toast.ts'
import { explain } from './explain.ts'

export { explain, fieldMessage, inWords } from './explain.ts'

/** Problems that no repetition changes: the person may not do it, or it does not exist. */
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
