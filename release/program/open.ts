import type { WebFiles } from '../../src/web/files.ts'
import { namesBelow, readReleased } from './files.ts'

// In the place of src/web/open.ts: a release contains the built web app.
export async function openWebApp(): Promise<WebFiles> {
  const prefix = 'web/'
  return {
    names: namesBelow(prefix).map((name) => name.slice(prefix.length)),
    read: (name) => readReleased(prefix + name),
  }
}
