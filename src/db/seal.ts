import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Db } from './db.ts'
import { transaction } from './db.ts'
import { lockFile } from './engines/sqlite/lock.ts'
import { giveToOwner, hasNoLinks, makeFolder } from './folder.ts'

/**
 * Encryption at rest with AES-256-GCM. A sealed text is the base64 of nonce, tag and cipher text. `open` throws when the
 * key differs. A column with sealed texts needs an entry in `sealed_columns`. `mac` is the HMAC-SHA256 of a text in base64url, with a key that is derived for one use.
 */
export type Seal = {
  seal(text: string): string
  open(sealed: string): string
  mac(use: string, text: string): string
}

const hashed = (secret_key: string): Buffer => createHash('sha256').update(secret_key).digest()

/** Seals with a key. Opens also what the key before it sealed, while it is given. */
export function createSeal(secret_key: string, secret_key_old: string | null = null): Seal {
  const key = hashed(secret_key)
  const old_key = secret_key_old === null ? null : hashed(secret_key_old)
  return {
    mac: macBy(key),
    seal(text) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64')
    },
    open(sealed) {
      try {
        return decrypt(key, sealed)
      } catch (error) {
        if (old_key === null) throw error
        return decrypt(old_key, sealed)
      }
    },
  }
}

/** The mac of a key. */
function macBy(key: Buffer): Seal['mac'] {
  const keys = new Map<string, Buffer>()
  function keyFor(use: string): Buffer {
    const derived = keys.get(use) ?? Buffer.from(hkdfSync('sha256', key, '', `rapport ${use}`, 32))
    keys.set(use, derived)
    return derived
  }
  return (use, text) => createHmac('sha256', keyFor(use)).update(text).digest('base64url')
}

/** The mac of a random key that is stored sealed: for what must stay valid when SECRET_KEY is rotated. */
export const lastingMac = async (db: Db, seal: Seal): Promise<Seal['mac']> =>
  macBy(
    Buffer.from(
      seal.open(await storedOnce(db, 'mac', () => seal.seal(randomBytes(32).toString('base64')))),
      'base64',
    ),
  )

/** The value of a setting of the installation. Two processes that make it at once both get the one that was stored first. */
const storedOnce = (db: Db, name: string, make: () => string): Promise<string> =>
  transaction(db, async (tx) => {
    const find = () => tx.selectFrom('settings').select('value').where('name', '=', name)
    const stored = await find().executeTakeFirst()
    if (stored) return stored.value
    await tx
      .insertInto('settings')
      .values({ name, value: make() })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return (await find().executeTakeFirstOrThrow()).value
  })

function decrypt(key: Buffer, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(12, 28))
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
}

export const keyFile = (data_dir: string) => join(data_dir, 'secret.key')

/** The key of SECRET_KEY, or of a file in the data folder. The first start creates the file with mode 600. */
export function readSecretKey(secret_key: string | null, data_dir: string): string {
  if (secret_key) return secret_key
  const file = keyFile(data_dir)
  if (!existsSync(file)) makeKeyFile(file)
  const key = readFileSync(file, 'utf8').trim()
  if (Buffer.from(key, 'base64').length !== 32)
    throw new Error(`${file} is damaged. Restore it from a backup's .key file, or set SECRET_KEY.`)
  return key
}

// Not a name that an administrator gives a copy of the key, such as secret.key.20261127.
const partial_name = /^secret\.key\.(partial-[0-9a-f]{8}|lock(-journal)?)$/

/** Removes the key files that crashed starts left incomplete, or under a second name. A folder that is read-only keeps them. */
export function removePartialKeys(data_dir: string): void {
  if (!existsSync(keyFile(data_dir))) return
  for (const name of readdirSync(data_dir).filter((name) => partial_name.test(name)))
    try {
      rmSync(join(data_dir, name))
    } catch {}
}

// Link the name after the content is flushed: an empty key file after a power cut would lose every secret.
function makeKeyFile(file: string): void {
  const folder = dirname(file)
  makeFolder(folder)
  const partial = `${file}.partial-${randomBytes(4).toString('hex')}`
  const handle = openSync(partial, 'wx', 0o600)
  try {
    giveToOwner(partial)
    writeSync(handle, `${randomBytes(32).toString('base64')}\n`)
    fsyncSync(handle)
    nameExclusively(partial, file)
  } catch (error) {
    // Another process created the file first, and may have removed this one: use that one.
    if (!existsSync(file)) throw error
  } finally {
    closeSync(handle)
    rmSync(partial, { force: true })
  }
  const folder_handle = openSync(folder, 'r')
  fsyncSync(folder_handle)
  closeSync(folder_handle)
}

// Naming a file takes a few ms.
const max_naming_ms = 5000

/** Gives a complete file its name. Throws if a file has the name. */
function nameExclusively(partial: string, file: string): void {
  try {
    linkSync(partial, file)
  } catch (error) {
    if (!hasNoLinks(error)) throw error
    // A rename replaces a file, so it needs a lock. The system releases this one also after kill -9.
    const lock = `${file}.lock`
    const unlock = lockFile(lock, max_naming_ms)
    try {
      if (existsSync(file)) throw error
      renameSync(partial, file)
    } finally {
      // Every later holder of a lock finds the key file.
      if (existsSync(file)) rmSync(lock, { force: true })
      unlock()
    }
  }
}

const min_key_length = 32

const tooShort = ({ length }: string) =>
  `SECRET_KEY has ${length} characters: it needs ${min_key_length} or more that nobody can guess. Make one with: openssl rand -hex 32`

/**
 * Throws if another key sealed this database's secrets, or if SECRET_KEY of a new database has fewer than 32
 * characters. Returns a warning if an existing database uses such a short key. The service continues, because only this
 * key opens its secrets.
 */
export async function checkSeal(db: Db, seal: Seal, secret_key: string | null): Promise<string | null> {
  const weak = secret_key !== null && secret_key.length < min_key_length ? tooShort(secret_key) : null
  const sample = await storedOnce(db, 'seal', () => {
    if (weak) throw new Error(weak)
    return seal.seal('rapport')
  })
  try {
    seal.open(sample)
  } catch {
    throw new Error(
      'SECRET_KEY (or secret.key in the data folder) is not the key that this database was written with. Restore the right key: without it, the webhook secrets cannot be decrypted. If the key was changed, set SECRET_KEY_OLD to the one before, until rapport rekey has ended.',
    )
  }
  return weak
}
