import { Button } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { answerOf, api } from '../api/client.ts'
import { ProblemNote } from '../app/problems.tsx'
import { notBusy } from '../record/list/not-busy.ts'
import { useTexts } from '../texts/with-settings.ts'
import { useDoing } from '../ui/doing.ts'
import { startDownload } from '../ui/download.ts'
import { showMessage } from '../ui/undo.tsx'
import { Section } from './section.tsx'

const path = '/api/v1/workspace/export'

/** Downloads the whole workspace as an archive. */
export function ExportEverything() {
  const t = useTexts()
  const { doing, problem, run } = useDoing()
  const start = () =>
    run(async () => {
      // The browser cannot tell why a download was refused, so the service is asked before.
      await notBusy(answerOf(untyped.HEAD(path, {})), t.files.busy)
      startDownload(path)
      showMessage(t.files.downloading)
    })
  return (
    <Section title={t.files.everything}>
      <p className="hint settings-hint">{t.files.everything_text}</p>
      <Button
        mt="sm"
        variant="default"
        leftSection={<DownloadIcon size={14} />}
        loading={doing}
        onClick={start}
      >
        {t.files.everything}
      </Button>
      {problem ? <ProblemNote error={problem} onRetry={start} /> : null}
    </Section>
  )
}

// The document of the API has no HEAD.
const untyped = api as unknown as { HEAD(path: string, init: object): Promise<{ response: Response }> }
