import { readReleased } from './files.ts'

// In the place of src/busy/thread-code.ts: a release has the bundled code of the thread as a file.
export const threadCode = async (): Promise<string> => readReleased('threads/busy.cjs').toString()
