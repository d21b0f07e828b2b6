import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'

// Node's own support for source maps parses each map when it loads the code, and keeps it: 5 MiB. Most processes never need
// one, so read a map when a stack trace first names its file.

const maps = new Map<string, SourceMap | null>()

function mapOf(url: string): SourceMap | null {
  let map = maps.get(url)
  if (map === undefined) {
    try {
      map = new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8')))
    } catch {
      map = null
    }
    maps.set(url, map)
  }
  return map
}

function shown(frame: NodeJS.CallSite): string {
  const text = String(frame)
  const url = frame.getScriptNameOrSourceURL()
  const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()]
  if (!url?.startsWith('file:') || line === null || column === null) return text
  const found = mapOf(url)?.findOrigin(line, column)
  if (!found || !('fileName' in found)) return text
  const source = new URL(found.fileName, url)
  return text.replace(`${url}:${line}:${column}`, `${source}:${found.lineNumber}:${found.columnNumber}`)
}

/** Lets stack traces name the lines of the sources instead of those of the bundle. */
export function mapStackTraces(): void {
  Error.prepareStackTrace = (error, frames) => {
    let head = 'Error'
    try {
      head = Error.prototype.toString.call(error)
    } catch {}
    return [head, ...frames.map((frame) => `    at ${shown(frame)}`)].join('\n')
  }
}
