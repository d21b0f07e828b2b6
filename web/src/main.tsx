import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './app/frame.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { Problem } from './api/client.ts'
import { LanguageProvider } from './app/language.tsx'
import { createAppRouter } from './app/router.tsx'
import { watchSession } from './app/session-watch.ts'
import { theme } from './app/theme.ts'
import { kinds } from './kinds.ts'
import { KindsContext } from './record/kinds.ts'
import { UndoCommand } from './ui/undo.tsx'

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // What the service has judged is not asked again; what did not reach it is, twice.
      retry: (failures, error) =>
        failures < 2 && error instanceof Problem && [0, 429, 503].includes(error.status),
    },
  },
})
watchSession(client)
const router = createAppRouter(client)
const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? ''

createRoot(document.getElementById('app') as HTMLElement, {
  // What the service said was shown where it happened; anything else is a fault of ours.
  onCaughtError: (error) => error instanceof Problem || console.error(error),
}).render(
  <QueryClientProvider client={client}>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <LanguageProvider>
        <KindsContext value={kinds}>
          <Notifications position="bottom-right" limit={4} />
          <UndoCommand />
          <RouterProvider router={router} />
        </KindsContext>
      </LanguageProvider>
    </MantineProvider>
  </QueryClientProvider>,
)
