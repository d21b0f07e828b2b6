import { Button, Center, Loader, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Problem } from '../api/client.ts'
import { useTexts } from '../texts/texts.ts'
import { ProblemNote } from './problems.tsx'

/** While the program of a page is loaded. */
export function Waiting() {
  const t = useTexts()
  return (
    <Center h="60vh">
      <Loader size="sm" aria-label={t.app.loading} />
    </Center>
  )
}

/** An address that is nothing. */
export function NotFound() {
  const t = useTexts()
  return (
    <Stack align="center" py={64} px="lg">
      <Title order={1} fz={20}>
        {t.app.not_found}
      </Title>
      <Text c="dimmed" ta="center">
        {t.app.not_found_text}
      </Text>
      <Button component={Link} to="/">
        {t.app.go_home}
      </Button>
    </Stack>
  )
}

/** A page whose program has failed, or that could not be loaded. */
export function Crashed({ error }: { error: unknown }) {
  const t = useTexts()
  const reload = () => window.location.reload()
  return (
    <Stack align="center" py={64} px="lg">
      <Title order={1} fz={20}>
        {t.app.crashed}
      </Title>
      {error instanceof Problem ? (
        <ProblemNote error={error} onRetry={reload} />
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
