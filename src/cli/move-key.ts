import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Db } from '../db/db.ts'
import { copyPrivately, syncFile } from '../db/engines/sqlite/backup.ts'
import { giveToOwner, makeFolder } from '../db/folder.ts'
import { createSeal, keyFile } from '../db/seal.ts'

/**
 * The location of the key that opens a database's secrets; null when the database has no sealed secrets. `old`: SECRET_KEY_OLD
 * opens them, because a rekey has not ended.
 */
export type KeyLocation = { setting: true; old: boolean } | { file: string } | 'unknown' | null

type Keys = { secret_key: string | null; secret_key_old: string | null }

/** Searches SECRET_KEY and SECRET_KEY_OLD (or null) and the key files of the folders for the key. */
export async function findKey(
  db: Db,
  { secret_key, secret_key_old }: Keys,
  folders: string[],
): Promise<KeyLocation> {
  const sample = await db.selectFrom('settings').select('value').where('name', '=', 'seal').executeTakeFirst()
  if (!sample) return null
  const opens = (key: string) => {
    try {
      createSeal(key).open(sample.value)
      return true
    } catch {
      return false
    }
  }
  if (secret_key !== null && opens(secret_key)) return { setting: true, old: false }
  if (secret_key !== null && secret_key_old !== null && opens(secret_key_old))
    return { setting: true, old: true }
  for (const folder of folders) {
    const file = keyFile(folder)
    if (existsSync(file) && opens(readFileSync(file, 'utf8').trim())) return { file }
  }
  return 'unknown'
}

/**
 * Copies a key file into a data folder, which can then open the same secrets. Throws, and changes nothing, when the folder
 * has another key. Returns the undo function.
 */
export function giveKey(file: string, folder: string): () => void {
  const target = keyFile(folder)
  if (target === file) return () => {}
  if (existsSync(target)) {
    if (readFileSync(target, 'utf8').trim() === readFileSync(file, 'utf8').trim()) return () => {}
    throw new Error(`${target} is another key than ${file}. It cannot open the copied secrets. Move it away.`)
  }
  makeFolder(folder, 0o700)
  copyPrivately(file, target)
  giveToOwner(target)
  syncFile(target)
  syncFile(dirname(target))
  return () => rmSync(target)
}
