import { fileURLToPath } from 'node:url'
import { bundleState } from './sources.js'

// The entry of npm start: runs dist/ if it is built from the sources as they are, otherwise the sources. RAPPORT_RUN=source or
// RAPPORT_RUN=bundle decides it, for tests and for the workers of a process, which all run the same.

const root = fileURLToPath(new URL('..', import.meta.url))

function chosen() {
  const state = bundleState(root)
  if (process.argv[2] === 'serve' && state === 'current')
    console.error('Running the build in dist/, which is up to date.')
  if (process.argv[2] === 'serve' && state === 'stale')
    console.error('dist/ is not built from these sources, so they run themselves. To build it: npm run build')
  return state === 'current' ? 'bundle' : 'source'
}

process.env.RAPPORT_RUN ||= chosen()
await import(process.env.RAPPORT_RUN === 'bundle' ? '../dist/main.js' : '../src/main.ts')
