import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files of a built web app. A name is a path below its folder, such as `assets/index-abc.js`. */
export type WebFiles = { names: readonly string[]; read(name: string): Buffer }

/** The files of a folder. */
export const folderFiles = (folder: string): WebFiles => ({
  names: readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/')),
  read: (name) => readFileSync(join(folder, name)),
})
