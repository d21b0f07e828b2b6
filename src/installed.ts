import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { isSea } from 'node:sea'

/** The signs of how somebody on this machine runs the command line. */
export type Started = {
  /** The program as it was called, and the file that Node runs. */
  argv0: string
  entry: string
  single_file: boolean
  host: string
  exists: (path: string) => boolean
  read: (path: string) => string
}

/** The words that begin a command line of Rapport, as this installation has them. */
export function programName(started: Started): string {
  const { argv0, entry, single_file } = started
  if (single_file) return quoted(argv0)
  if (/[\\/]release[\\/]start\.js$/.test(entry)) return 'npm run --silent rapport --'
  if (isImage(entry)) return `${containerPrefix(started)}rapport`
  const [folder] = /^.*[\\/]_npx[\\/][^\\/]+[\\/]/.exec(entry) ?? []
  return folder ? `npx ${npxPackage(started, folder)}` : 'rapport'
}

/** The words that print a file of this installation. */
export const printerOf = (started: Started, path: string): string =>
  `${isImage(started.entry) ? containerPrefix(started) : ''}cat ${quoted(path)}`

// Double quotes are understood by the shells of all platforms.
const quoted = (path: string) => (/[^\w./:\\-]/.test(path) ? `"${path}"` : path)

// The image has the program here (release/image.sh). An operator who installs it in another container works inside of that one.
const isImage = (entry: string) => entry === '/app/main.js' || entry === '/usr/local/bin/rapport'

// The files that a runtime puts into its containers, and the words that run a command in one.
const containers: [file: string, before: string, after: string][] = [
  ['/var/run/secrets/kubernetes.io', 'kubectl exec', ' --'],
  ['/run/.containerenv', 'podman exec', ''],
  ['/.dockerenv', 'docker exec', ''],
]

/** The words before a command in a container, such as `docker exec 3f0c`; empty outside of one. */
function containerPrefix({ exists, host }: Started): string {
  const found = containers.find(([file]) => exists(file))
  // The host's name is the id of the container, or the name of the pod, unless somebody chose another one.
  return found ? `${found[1]} ${host}${found[2]} ` : ''
}

/** The package as somebody gave it to npx, such as a file of a release. */
function npxPackage({ read }: Started, folder: string): string {
  try {
    const [given] = JSON.parse(read(`${folder}package.json`))._npx.packages
    return quoted(String(given))
  } catch {
    return '@rapport/server'
  }
}

const started: Started = {
  argv0: process.argv0,
  entry: process.argv[1] ?? '',
  single_file: isSea(),
  host: hostname(),
  exists: existsSync,
  read: (path) => readFileSync(path, 'utf8'),
}
const program = programName(started)

/** A command of this installation, for messages: `npm run --silent rapport -- keys list` in a checkout. */
export const command = (words: string): string => `${program} ${words}`

/** A command that prints a file of this installation, also in a container. */
export const printFile = (path: string): string => printerOf(started, path)
