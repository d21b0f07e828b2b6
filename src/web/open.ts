import { buildWebApp } from './build.ts'
import { folderFiles, type WebFiles } from './files.ts'

/** The files of the web app, which is built first if necessary; null without one. A release has another module in this place. */
export async function openWebApp(log: (line: string) => void): Promise<WebFiles | null> {
  const folder = await buildWebApp(log)
  return folder === null ? null : folderFiles(folder)
}
