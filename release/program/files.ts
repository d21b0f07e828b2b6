import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getAssetKeys, getRawAsset, isSea } from 'node:sea'
import { brotliDecompressSync } from 'node:zlib'

// The files of a release: beside the program, or inside the single executable. Most of them are stored in compressed form only.

// This module is in a part of the bundle, one folder below the files.
const pathOf = (name: string) => join(import.meta.dirname, '..', name)
const stored = (): string[] =>
  isSea()
    ? getAssetKeys()
    : readdirSync(pathOf(''), { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'))

const readStored = (name: string): Buffer | null => {
  if (!isSea()) return existsSync(pathOf(name)) ? readFileSync(pathOf(name)) : null
  return getAssetKeys().includes(name) ? Buffer.from(getRawAsset(name)) : null
}

/** The names of all files below a folder of the release, with those that are stored in compressed form only. */
export const namesBelow = (prefix: string): string[] => {
  const names = stored().filter((name) => name.startsWith(prefix))
  return [...new Set([...names, ...names.map((name) => name.replace(/\.br$/, ''))])]
}

/** The bytes of a file of the release. */
export function readReleased(name: string): Buffer {
  const bytes = readStored(name)
  if (bytes) return bytes
  const compressed = readStored(`${name}.br`)
  if (!compressed) throw new Error(`The file ${name} of this release is missing. Install it again.`)
  return brotliDecompressSync(compressed)
}
