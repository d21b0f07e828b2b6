import { Button, Center, Loader, Stack, Text, Title } from '@mantine/core'
import { useEffect } from 'react'
import { Problem } from '../api/client.ts'
import { useTexts } from '../texts/texts.ts'
import { Link } from './link.ts'
import { serviceAnswers } from './loading.ts'
import { ProblemNote } from './problems.tsx'
import { useTitle } from './title.ts'

/** Shown while the chunk of a page loads. */
export function Waiting() {
  const t = useTexts()
  return (
    <Center h="60vh" data-waiting>
      <Loader size="sm" aria-label={t.app.loading} />
    </Center>
  )
}

/** Shown while the session is read: the shell of index.html, unless it is hidden. */
export const FirstWaiting = () => (document.documentElement.dataset.shell === 'no' ? <Waiting /> : null)

/** The page of an unknown address. */
export function NotFound() {
  const t = useTexts()
  useTitle(t.app.not_found)
  return (
    <Stack align="center" py={64} px="lg">
      <Title order={1}>{t.app.not_found}</Title>
      <Text c="dimmed" ta="center">
        {t.app.not_found_text}
      </Text>
      <Button component={Link} to="/">
        {t.app.go_home}
      </Button>
    </Stack>
  )
}

const again_ms = 2000
const reload = () => window.location.reload()

/** A page that has failed, or whose chunk could not be loaded. */
export function Crashed({ error }: { error: unknown }) {
  const t = useTexts()
  const away = error instanceof Problem && error.code === 'unreachable'
  useTitle(away ? t.app.waiting : t.app.crashed)
  // Loaded pages stay usable by the rail. This page reloads when the service answers.
  useEffect(() => {
    if (!away) return
    const timer = setInterval(async () => (await serviceAnswers()) && reload(), again_ms)
    return () => clearInterval(timer)
  }, [away])
  return (
    <Stack align="center" py={64} px="lg">
      <Title order={1}>{away ? t.app.waiting : t.app.crashed}</Title>
      {error instanceof Problem ? (
        <ProblemNote error={error} {...(!away && { onRetry: reload })} />
      ) : (
        <>
          <Text c="dimmed" ta="center" maw={480}>
            {t.app.crashed_text}
          </Text>
          <Button onClick={reload}>{t.app.reload}</Button>
        </>
      )}
    </Stack>
  )
}
