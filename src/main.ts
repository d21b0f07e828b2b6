import module from 'node:module'
import { fileURLToPath } from 'node:url'

// Cache compiled code beside the packages, so that the next start does not compile again. If the folder is read-only,
// starts are only slower. Import everything else after this line, so that it is cached too.
module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/rapport', import.meta.url)))

const words = process.argv.slice(2)
const says = words[0] === 'serve' ? console.error : () => {}

/** Whether to run `dist/` in place of the sources: as RAPPORT_RUN says, or if it is up to date. */
async function runsBundle(): Promise<boolean> {
  const wanted = process.env.RAPPORT_RUN
  if (wanted) return wanted === 'bundle'
  const { bundleState } = await import('./bundle.ts')
  const state = bundleState()
  if (state === 'current') says('Running the build in dist/, which is up to date.')
  if (state === 'stale') says('dist/ is not built from these sources, so they run themselves: npm run build')
  return state === 'current'
}

if (await runsBundle()) {
  // Its workers run the same.
  process.env.RAPPORT_RUN = 'bundle'
  await import(new URL('../dist/main.js', import.meta.url).href)
} else {
  process.env.RAPPORT_RUN = 'source'
  const { runProcess } = await import('./cli/process.ts')
  await runProcess(words, process.env)
}
