import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// Asks the registry for vulnerabilities of the installed production packages, and fails from severity moderate on. A registry
// without advisories, or without an answer, is reported but is not a failure.

type Advisory = { title: string; severity: string; url: string }
type Finding = { name: string; severity: string; via: (Advisory | string)[] }
type Answer = { error?: { summary?: string }; message?: string; vulnerabilities?: Record<string, Finding> }

const words = ['audit', '--omit=dev', '--json', '--fetch-retries=1', '--fetch-timeout=20000']
const answer = await new Promise<Answer>((resolve) => {
  execFile(
    'npm',
    words,
    { cwd: fileURLToPath(new URL('..', import.meta.url)), timeout: 60_000 },
    (error, stdout) => {
      try {
        resolve(JSON.parse(stdout))
      } catch {
        resolve({ message: error?.message ?? 'no answer' })
      }
    },
  )
})

if (!answer.vulnerabilities) {
  const [reason] = (answer.message ?? answer.error?.summary ?? 'no answer').split('\n')
  console.log(`Dependencies were NOT checked for advisories: the registry did not answer (${reason}).`)
} else {
  const found = Object.values(answer.vulnerabilities).filter(
    ({ severity }) => !['info', 'low'].includes(severity),
  )
  for (const { name, severity, via } of found) {
    const advisories = via.map((one) => (typeof one === 'string' ? `by ${one}` : `${one.title} ${one.url}`))
    console.error(`${severity}: ${name}: ${advisories.join('; ')}`)
  }
  if (found.length) process.exitCode = 1
  else console.log('The registry knows of no vulnerability from moderate on.')
}
