import type { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../clock.ts'
import { type Allowance, burst_seconds, createLimiter, type Limiter } from './rate-limit.ts'

/** What the service needs to know about a limiter that its processes share. */
export type SharedLimiter = { limit: Limiter; close(): void }

type Options = {
  redis_url: string | null
  per_second: number
  clock: Clock
  logger: { warn(details: object, text: string): void }
}

// A request waits this long at most for Redis; without Redis it would have been answered in a few milliseconds.
const answer_ms = 100
const connect_ms = 1000
const again_ms = 1000

// The bucket of rate-limit.ts, step for step, but by the clock of Redis, so that processes whose clocks differ agree. The
// library hands over its `points` (the burst) as ARGV[3] and the seconds in which they all come back as ARGV[4], and
// expects what is used up, more than `points` for a refusal, and milliseconds: here until the bucket is full again.
// A full bucket is as good as none, so the key lives exactly until then.
const token_bucket = `
local limit = tonumber(ARGV[3])
local per_ms = limit / (ARGV[4] * 1000)
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local saved = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(saved[1] or limit)
local at = tonumber(saved[2] or now)
tokens = math.min(limit, tokens + math.max(0, now - at) * per_ms)
local allowed = tokens >= 1
if allowed then tokens = tokens - 1 end
local full_ms = math.ceil((limit - tokens) / per_ms)
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.3f', now))
redis.call('PEXPIRE', KEYS[1], full_ms)
return { allowed and math.ceil(limit - tokens) or limit + 1, full_ms }
`

/**
 * The limit of createLimiter, shared by all processes that name the same Redis or Valkey; null without one, or without a
 * limit. Never rejects, neither here nor in `limit`: while Redis is away or slow, each process limits by itself, which is
 * logged once, and looks for Redis again every second. `close` drops the connection at once.
 */
export async function openSharedLimiter(options: Options): Promise<SharedLimiter | null> {
  const { redis_url, per_second, clock, logger } = options
  const alone = createLimiter(per_second, clock)
  if (!redis_url || !alone) return null
  // Loaded only here: the client costs every start 0.1 s and 27 MB.
  const { createClient, RedisClient } = await import('@redis/client')
  const { RateLimiterRedis, RateLimiterRes } = await import('rate-limiter-flexible')
  try {
    RedisClient.parseURL(redis_url)
  } catch (error) {
    // Without the error itself: it carries the address, and with it a password.
    const reason = (error as Error).message
    logger.warn({ reason }, 'REDIS_URL is not an address of Redis: each process limits rates by itself')
    return null
  }

  type Connection = { drop(): void; limiter: RateLimiterRedis | null }
  let current: Connection | null = null
  let away = false
  let again: NodeJS.Timeout | undefined

  const connect = async () => {
    const client = createClient({
      url: redis_url,
      // The oldest protocol that does, for whatever speaks it; nothing of the newer ones is used.
      RESP: 2,
      maintNotifications: 'disabled',
      // The client's own limit ends where a command is sent; ours, below, is of the answer.
      commandOptions: { timeout: 0 },
      // A new client each time, because an answer that does not come leaves the connection open, and the client content.
      socket: { reconnectStrategy: false, connectTimeout: connect_ms },
    })
    const mine: Connection = { drop: () => client.destroy(), limiter: null }
    current = mine
    client.on('error', (error) => lost(mine, error))
    client.unref()
    const late = setTimeout(lost, connect_ms, mine, new Error(`No connection within ${connect_ms} ms`))
    try {
      await client.connect()
      // A client that was dropped while it connected has gone on, and has to be told again.
      if (current !== mine) client.destroy()
      mine.limiter = new RateLimiterRedis({
        storeClient: client,
        useRedisPackage: true,
        keyPrefix: 'rapport:rate',
        points: per_second * burst_seconds,
        duration: burst_seconds,
        customIncrTtlLuaScript: token_bucket,
      })
    } catch (error) {
      lost(mine, error)
    } finally {
      clearTimeout(late)
    }
  }

  // Dropping the connection also answers all who wait for it: with an error, so they go on by `alone`.
  const lost = (connection: Connection, error: unknown) => {
    if (current !== connection) return
    current = null
    connection.drop()
    again = setTimeout(connect, again_ms)
    again.unref()
    if (!away) logger.warn({ err: error }, 'Redis does not answer: each process limits rates by itself')
    away = true
  }

  const ask = async (connection: Connection, limiter: RateLimiterRedis, key: string) => {
    let waiting = true
    const tooLate = () => waiting && lost(connection, new Error(`No answer within ${answer_ms} ms`))
    // In two halves, and after what has arrived is read: a pause of this process itself, in which it could neither send nor
    // read, must not be taken for one of Redis.
    const half = answer_ms / 2
    let late = setTimeout(() => {
      late = setTimeout(() => setImmediate(tooLate), half)
    }, half)
    try {
      const answer = await limiter.consume(key).catch((refusal) => {
        if (refusal instanceof RateLimiterRes) return refusal
        throw refusal
      })
      if (away && current === connection) {
        away = false
        logger.warn({}, 'Redis answers again: rate limits are shared')
      }
      return allowanceOf(answer, limiter.points)
    } catch (error) {
      lost(connection, error)
      return alone(key)
    } finally {
      waiting = false
      clearTimeout(late)
    }
  }

  await connect()
  return {
    limit: (key) => (current?.limiter ? ask(current, current.limiter, key) : alone(key)),
    close() {
      clearTimeout(again)
      current?.drop()
      current = null
    },
  }
}

const allowanceOf = (answer: RateLimiterRes, limit: number): Allowance => ({
  limit,
  remaining: answer.remainingPoints,
  reset_seconds: Math.ceil(answer.msBeforeNext / 1000),
  // One token comes back within a second at every rate.
  retry_after_seconds: answer.consumedPoints > limit ? 1 : 0,
})
