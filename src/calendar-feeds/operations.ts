import type { Static } from 'typebox'
import { newToken } from '../access/people/tokens.ts'
import { holdMember } from '../across/views/queries.ts'
import type { Tx } from '../db/db.ts'
import { newId } from '../db/ids.ts'
import { orNotFound, refuse, refuseMore } from '../errors.ts'
import { recordChange } from '../events/audit.ts'
import type { Context } from '../events/context.ts'
import type { Incoming } from '../http/endpoints.ts'
import { changesOf } from '../http/patch.ts'
import { countFeeds, findFeed, insertFeed, type Owner, removeFeed, updateFeed } from './queries.ts'
import {
  type CalendarFeed,
  type FeedFields,
  type FeedParams,
  feed_defaults,
  feed_fields,
  max_feeds,
} from './schema.ts'

type OfFeed<Body = unknown> = Incoming<Static<typeof FeedParams>, Body>

export const ownerOf = ({ workspace_id, actor }: Pick<Context, 'workspace_id' | 'actor'>): Owner => ({
  workspace_id,
  user_id: String(actor.id),
})

/** The address of a feed, below the address of the service. */
const pathOf = (token: string) => `/ics/${token}.ics`

// The address of a feed is a credential, so the audit log has its beginning and its end.
const audit = (tx: Tx, context: Context, action: string) =>
  recordChange(tx, context, { action, kind: 'users', record_id: ownerOf(context).user_id })

/** Makes a feed. The token of its address is in this answer alone. Throws 409 above the limit of a person. */
export async function createFeed(
  tx: Tx,
  context: Context,
  { body, problems }: Pick<Incoming<unknown, Partial<FeedFields>>, 'body' | 'problems'>,
): Promise<{ feed: CalendarFeed; url_path: string }> {
  refuse(problems)
  const owner = ownerOf(context)
  // The lock makes the limit exact, and a removal of the member waits.
  await holdMember(tx, owner.workspace_id, owner.user_id)
  const limit = `A person has at most ${max_feeds} calendar feeds in a workspace`
  refuseMore('too_many_feeds', await countFeeds(tx, owner), max_feeds, limit, 'Delete one first.')
  const { token, hash } = newToken()
  const id = newId('feed')
  const { name = '', ...given } = body
  await insertFeed(tx, { ...owner, id, hash, name, ...feed_defaults, ...given, created_at: context.now })
  audit(tx, context, 'calendar_feed_created')
  return { feed: orNotFound('calendar feed', await findFeed(tx, owner, id)), url_path: pathOf(token) }
}

async function lockFeed(tx: Tx, context: Context, { params, expect }: Pick<OfFeed, 'params' | 'expect'>) {
  const owner = ownerOf(context)
  await holdMember(tx, owner.workspace_id, owner.user_id)
  const feed = orNotFound('calendar feed', await findFeed(tx, owner, params.feed_id))
  expect(feed)
  return feed
}

export async function changeFeed(
  tx: Tx,
  context: Context,
  sent: OfFeed<Partial<FeedFields>>,
): Promise<CalendarFeed> {
  const before = await lockFeed(tx, context, sent)
  refuse(sent.problems)
  const changes = changesOf(sent.body, before, feed_fields)
  if (!Object.keys(changes).length) return before
  await updateFeed(tx, before.id, changes)
  return { ...before, ...changes }
}

/** Removes a feed: its address is unknown from then on. */
export async function deleteFeed(tx: Tx, context: Context, sent: OfFeed): Promise<void> {
  const { id } = await lockFeed(tx, context, sent)
  await removeFeed(tx, id)
  audit(tx, context, 'calendar_feed_deleted')
}
