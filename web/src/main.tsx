import './styles.ts'
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { Problem } from './api/client.ts'
import { keepReads } from './api/early-reads.ts'
import { later } from './app/contained.tsx'
import { followSignOut } from './app/drafts.ts'
import { whenIdle } from './app/idle.ts'
import { LanguageProvider } from './app/language.tsx'
import { loadEqualCharacters } from './app/plain-text.ts'
import { createAppRouter } from './app/router.tsx'
import { sessionQuery } from './app/session.ts'
import { watchSession } from './app/session-watch.ts'
import { theme } from './app/theme.ts'
import { kinds } from './kinds.ts'
import { KindsContext } from './record/kinds.ts'
import { ExplainContext } from './record/page/explained.tsx'
import { guardPresses, keepPressed } from './ui/one-press.ts'
import { Toasts } from './ui/toasts.tsx'
import { UndoCommand } from './ui/undo.tsx'

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // An offline browser may still reach a service on its own machine or network. Send requests, and let them fail.
      networkMode: 'always',
      refetchOnReconnect: true,
      // Errors of the service are not retried. Requests without an answer are, twice.
      retry: (failures, error) =>
        failures < 2 && error instanceof Problem && [0, 429, 503].includes(error.status),
    },
  },
})
followSignOut()
guardPresses()
keepPressed()
watchSession(client)
whenIdle(loadEqualCharacters)
whenIdle(() => import('./ui/focus-tip.ts'), true)
whenIdle(async () => {
  const session = client.getQueryData(sessionQuery.queryKey)
  if (session) keepReads(session)
}, true)
const router = createAppRouter(client)
const ExplainChange = later(async () => (await import('./webhooks/explain.tsx')).ExplainChange, true)
const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? ''

createRoot(document.getElementById('app') as HTMLElement, {
  // Errors of the service were already shown. Other errors are faults of the app.
  onCaughtError: (error) => error instanceof Problem || console.error(error),
}).render(
  <QueryClientProvider client={client}>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <LanguageProvider>
        <KindsContext value={kinds}>
          <ExplainContext value={ExplainChange}>
            <Toasts />
            <UndoCommand />
            <RouterProvider router={router} />
          </ExplainContext>
        </KindsContext>
      </LanguageProvider>
    </MantineProvider>
  </QueryClientProvider>,
)
