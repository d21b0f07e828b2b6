import { fileURLToPath } from 'node:url'
import { bundleState } from './sources.js'

// The entry of npm start: runs dist/ if it is built from the sources as they are, otherwise the sources. RAPPORT_RUN=source or
// RAPPORT_RUN=bundle decides it, for tests and for the workers of a process, which all run the same.

const root = fileURLToPath(new URL('..', import.meta.url))

const messages = {
  none: 'Running the sources. A build starts in half the time: npm run build',
  stale: 'Running the sources: dist/ is built from others. To build it again: npm run build',
  current: 'Running the build in dist/, which is up to date.',
}

function chosen() {
  const state = bundleState(root)
  if (process.argv[2] === 'serve') console.error(messages[state])
  return state === 'current' ? 'bundle' : 'source'
}

process.env.RAPPORT_RUN ||= chosen()
const run = process.env.RAPPORT_RUN
if (run !== 'source' && run !== 'bundle') {
  console.error(`RAPPORT_RUN must be source or bundle, not "${run}".`)
  process.exit(1)
}
await import(run === 'bundle' ? '../dist/main.js' : '../src/main.ts')
