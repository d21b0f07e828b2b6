import { Code, Group } from '@mantine/core'
import { useTexts } from '../texts/texts.ts'
import { CopyButton } from './copy.tsx'

/** The API call that does the same, folded at the foot of a page of the settings. */
export function ByApi({ method = 'GET', path, body }: { method?: string; path: string; body?: object }) {
  const t = useTexts()
  const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}${window.location.origin}/api/v1${path}`]
  parts.push(`-H 'Authorization: Bearer YOUR_KEY'`)
  if (body) parts.push(`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body)}'`)
  const command = parts.join(' \\\n  ')
  return (
    <details className="by-api">
      <summary>{t.app.by_api}</summary>
      <Code block my="sm">
        {command}
      </Code>
      <Group>
        <CopyButton value={command} />
      </Group>
    </details>
  )
}
