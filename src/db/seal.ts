import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Db } from './db.ts'
import { transaction } from './db.ts'

/**
 * Encryption at rest: AES-256-GCM; a sealed text is base64 of nonce, tag and cipher text. `open` throws on another key.
 * `mac` signs a text for one use: HMAC-SHA256 in base64url, with a key that is derived for this use.
 */
export type Seal = {
  seal(text: string): string
  open(sealed: string): string
  mac(use: string, text: string): string
}

export function createSeal(secret_key: string): Seal {
  const key = createHash('sha256').update(secret_key).digest()
  const keys = new Map<string, Buffer>()
  function keyFor(use: string): Buffer {
    const made = keys.get(use) ?? Buffer.from(hkdfSync('sha256', key, '', `rapport ${use}`, 32))
    keys.set(use, made)
    return made
  }
  return {
    mac: (use, text) => createHmac('sha256', keyFor(use)).update(text).digest('base64url'),
    seal(text) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
      decipher.setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
    },
  }
}

export const keyFile = (data_dir: string) => join(data_dir, 'secret.key')

/** The key of SECRET_KEY, or else of a file in the data folder, made at the first start with mode 600. */
export function readSecretKey(secret_key: string | null, data_dir: string): string {
  if (secret_key) return secret_key
  const file = keyFile(data_dir)
  if (!existsSync(file)) makeKeyFile(file)
  const key = readFileSync(file, 'utf8').trim()
  if (Buffer.from(key, 'base64').length !== 32)
    throw new Error(
      `${file} is damaged: put the right one back, from a backup's .key file, or set SECRET_KEY.`,
    )
  return key
}

// The name appears only when the content is on the disk: an empty key file after a power cut would lose every secret.
function makeKeyFile(file: string): void {
  const folder = dirname(file)
  mkdirSync(folder, { recursive: true })
  const made = `${file}.${process.pid}`
  const handle = openSync(made, 'w', 0o600)
  writeSync(handle, `${randomBytes(32).toString('base64')}\n`)
  fsyncSync(handle)
  closeSync(handle)
  try {
    linkSync(made, file)
  } catch (error) {
    // Another process made it first: that one counts.
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    rmSync(made, { force: true })
  }
  const inside = openSync(folder, 'r')
  fsyncSync(inside)
  closeSync(inside)
}

const shortest_key = 32

const tooShort = ({ length }: string) =>
  `SECRET_KEY has ${length} characters: it needs ${shortest_key} or more that nobody can guess. Make one with: openssl rand -hex 32`

/**
 * Refuses to go on with another key than the one that sealed this database's secrets, and to seal a new database with a
 * SECRET_KEY of less than 32 characters. Returns what is wrong with the key of a database that has been sealed with such a
 * one: no other key opens its secrets, so it goes on.
 */
export async function checkSeal(db: Db, seal: Seal, secret_key: string | null): Promise<string | null> {
  const weak = secret_key !== null && secret_key.length < shortest_key ? tooShort(secret_key) : null
  const sample = await transaction(db, async (tx) => {
    const sealed = await tx
      .selectFrom('settings')
      .select('value')
      .where('name', '=', 'seal')
      .executeTakeFirst()
    if (sealed) return sealed.value
    if (weak) throw new Error(weak)
    // Two processes may start on a new database: the first one's sample counts.
    await tx
      .insertInto('settings')
      .values({ name: 'seal', value: seal.seal('rapport') })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const { value } = await tx
      .selectFrom('settings')
      .select('value')
      .where('name', '=', 'seal')
      .executeTakeFirstOrThrow()
    return value
  })
  try {
    seal.open(sample)
  } catch {
    throw new Error(
      'SECRET_KEY (or secret.key in the data folder) is not the key that this database was written with. Put the right one back: without it the webhook secrets cannot be read.',
    )
  }
  return weak
}
