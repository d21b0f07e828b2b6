import { existsSync } from 'node:fs'
import { systemClock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { hasDatabase } from '../../db/engines/sqlite/open.ts'
import { openDatabase } from '../../db/open.ts'
import { createSeal, keyFile, readSecretKey } from '../../db/seal.ts'
import { isInstallation } from '../../move/tables.ts'
import { signingSecrets } from '../../webhooks/registration/secrets.ts'
import type { Api } from '../api.ts'

/** The parts of a webhook that a listener takes. */
export type Taken = { id: string; events: string[]; secrets: string[] }

type Listed = { id: string; name: string | null; events: string[] }

/** The events of a webhook by the API, and its secret: given, or read from the database of the service on this machine. */
export async function takeWebhook(
  api: Api,
  name: string,
  given: string | undefined,
  config: () => Config,
): Promise<Taken> {
  const { id, events } = await findWebhook(api, name)
  const secrets = given ? [given] : await storedSecrets(config(), id)
  if (secrets) return { id, events, secrets }
  throw new Error(
    `The API does not show the secret of webhook ${id}. Run this on the machine of the service with its settings, or set RAPPORT_WEBHOOK_SECRET to the secret.`,
  )
}

const per_page = 100

async function findWebhook(api: Api, name: string): Promise<Listed> {
  const all: Listed[] = []
  for (let page = 1; ; page++) {
    const response = await api(`/webhooks?per_page=${per_page}&page=${page}`)
    const { data } = (await response.json()) as { data: Listed[] }
    all.push(...data)
    if (data.length < per_page) break
  }
  const found = all.filter((webhook) => webhook.id === name || webhook.name === name)
  const [only] = found
  if (only && found.length === 1) return only
  const known = (found.length ? found : all).map((webhook) => `${webhook.id} (${webhook.name ?? 'no name'})`)
  throw new Error(
    found.length
      ? `${found.length} webhooks have the name ${name}. Give the id of one: ${known.join(', ')}`
      : `There is no webhook ${name}. They are: ${known.join(', ') || 'none yet'}`,
  )
}

/** The secrets that sign now; null if the database of these settings does not have the webhook. */
async function storedSecrets(settings: Config, id: string): Promise<string[] | null> {
  const { data_dir, database_url, secret_key, secret_key_old } = settings
  // Opening a database and reading a key would create them.
  if (database_url === null && !hasDatabase(data_dir)) return null
  if (secret_key === null && !existsSync(keyFile(data_dir))) return null
  const database = await openDatabase({ ...settings, database_replica_url: null, database_pool_size: 2 })
  try {
    if (!(await isInstallation(database.db))) return null
    const row = await database.db
      .selectFrom('webhooks')
      .select(['secret', 'next_secret', 'next_secret_from_ms'])
      .where('id', '=', id)
      .executeTakeFirst()
    return row
      ? signingSecrets(
          row,
          createSeal(readSecretKey(secret_key, data_dir), secret_key_old),
          systemClock.now(),
        )
      : null
  } finally {
    await database.close()
  }
}
