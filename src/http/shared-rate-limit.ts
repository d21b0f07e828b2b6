import type { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../clock.ts'
import { type Allowance, burst_seconds, createLimiter, type Limiter } from './rate-limit.ts'

/** A limiter that several processes share. */
export type SharedLimiter = { limit: Limiter; close(): void }

type Options = {
  redis_url: string | null
  per_second: number
  clock: Clock
  logger: { warn(details: object, text: string): void }
  limits_ms?: RedisLimits | undefined
}

/** A request waits at most `answer` for Redis. Without Redis, it takes a few milliseconds. */
export type RedisLimits = { answer: number; connect: number }
export const default_limits_ms: Readonly<RedisLimits> = { answer: 100, connect: 1000 }
const again_ms = 1000

// The token bucket of rate-limit.ts with the clock of Redis, because the clocks of processes may differ. ARGV[1] is the
// number of requests, ARGV[3] the burst (`points`), ARGV[4] the seconds to refill it. Returns the used points (more than `points` for a refusal) and the
// milliseconds until the bucket is full. The key expires then: a full bucket needs no key.
const token_bucket = `
local count = tonumber(ARGV[1])
local limit = tonumber(ARGV[3])
local per_ms = limit / (ARGV[4] * 1000)
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local saved = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(saved[1] or limit)
local at = tonumber(saved[2] or now)
tokens = math.min(limit, tokens + math.max(0, now - at) * per_ms)
local allowed = tokens >= count
if allowed then tokens = tokens - count end
local full_ms = math.ceil((limit - tokens) / per_ms)
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.3f', now))
redis.call('PEXPIRE', KEYS[1], full_ms)
return { allowed and math.ceil(limit - tokens) or limit + 1, full_ms }
`

const clientOptions = (connectTimeout: number) =>
  ({
    // RESP 2 is enough, and every compatible server has it.
    RESP: 2,
    maintNotifications: 'disabled',
    // The client's timeout covers only the sending of a command. afterTime covers the answer.
    commandOptions: { timeout: 0 },
    // Do not reconnect in the client: it does not notice a missing answer. Each reconnection creates a new client.
    socket: { reconnectStrategy: false, connectTimeout },
  }) as const

const limiter_options = {
  useRedisPackage: true,
  keyPrefix: 'rapport:rate',
  duration: burst_seconds,
  customIncrTtlLuaScript: token_bucket,
}

type Connection = { drop(): void; limiter: RateLimiterRedis | null }

/**
 * The limit of createLimiter, shared by all processes with the same Redis or Valkey; null without Redis or a limit. It
 * never rejects: while Redis is unavailable or slow, each process limits alone, logs this once, and reconnects every
 * second. `close` drops the connection at once.
 */
export async function openSharedLimiter(options: Options): Promise<SharedLimiter | null> {
  const { redis_url, per_second, clock, logger, limits_ms = default_limits_ms } = options
  const alone = createLimiter(per_second, clock)
  if (!redis_url || !alone) return null
  // Import the client only when it is used: it costs 0.1 s and 27 MB at the start.
  const redis = await import('@redis/client')
  const { RateLimiterRedis, RateLimiterRes } = await import('rate-limiter-flexible')
  if (!isRedisUrl(redis, redis_url, logger)) return null

  let current: Connection | null = null
  let away = false
  let again: NodeJS.Timeout | undefined

  const connect = async () => {
    const client = redis.createClient({ url: redis_url, ...clientOptions(limits_ms.connect) })
    const mine: Connection = { drop: () => client.destroy(), limiter: null }
    current = mine
    client.on('error', (error) => lost(mine, error))
    client.unref()
    const late = setTimeout(
      lost,
      limits_ms.connect,
      mine,
      new Error(`No connection within ${limits_ms.connect} ms`),
    )
    try {
      await client.connect()
      // The client was dropped while it connected, but has connected nevertheless. Destroy it again.
      if (current !== mine) client.destroy()
      const points = per_second * burst_seconds
      mine.limiter = new RateLimiterRedis({ storeClient: client, points, ...limiter_options })
    } catch (error) {
      lost(mine, error)
    } finally {
      clearTimeout(late)
    }
  }

  // Dropping the connection rejects all waiting requests, which then use `alone`.
  const lost = (connection: Connection, error: unknown) => {
    if (current !== connection) return
    current = null
    connection.drop()
    again = setTimeout(connect, again_ms)
    again.unref()
    if (!away)
      logger.warn(
        { err: error },
        'Redis does not answer: each process limits rates alone until it does. Check REDIS_URL.',
      )
    away = true
  }

  const ask = async (connection: Connection, limiter: RateLimiterRedis, key: string, count: number) => {
    const { answer: limit_ms } = limits_ms
    const answered = afterTime(limit_ms, () => lost(connection, new Error(`No answer within ${limit_ms} ms`)))
    try {
      const answer = await limiter.consume(key, count).catch((refusal) => {
        if (refusal instanceof RateLimiterRes) return refusal
        throw refusal
      })
      if (away && current === connection) {
        away = false
        logger.warn({}, 'Redis answers again: rate limits are shared')
      }
      return allowanceOf(answer, limiter.points, count)
    } catch (error) {
      lost(connection, error)
      return alone(key, count)
    } finally {
      answered()
    }
  }

  await connect()
  return {
    limit: (key, count = 1) =>
      current?.limiter ? ask(current, current.limiter, key, count) : alone(key, count),
    close() {
      clearTimeout(again)
      current?.drop()
      current = null
    },
  }
}

function isRedisUrl(
  { RedisClient }: typeof import('@redis/client'),
  url: string,
  logger: Options['logger'],
): boolean {
  try {
    RedisClient.parseURL(url)
    return true
  } catch (error) {
    // Do not log the error: it has the address, which may contain a password.
    const reason = (error as Error).message
    logger.warn(
      { reason },
      'REDIS_URL is not a Redis address: each process limits rates alone. Set it to redis://HOST:6379.',
    )
    return false
  }
}

/**
 * Calls `late` after `limit_ms`, unless the returned function is called first. It uses two timers and
 * setImmediate, so that received answers are read first. A pause of this process must not count as a timeout of Redis.
 */
function afterTime(limit_ms: number, late: () => void): () => void {
  let waiting = true
  const half = limit_ms / 2
  let timer = setTimeout(() => {
    timer = setTimeout(() => setImmediate(() => waiting && late()), half)
  }, half)
  return () => {
    waiting = false
    clearTimeout(timer)
  }
}

function allowanceOf(answer: RateLimiterRes, limit: number, count: number): Allowance {
  const reset_seconds = answer.msBeforeNext / 1000
  const per_second = limit / burst_seconds
  const refused = answer.consumedPoints > limit
  const missing = count - (limit - reset_seconds * per_second)
  return {
    limit,
    remaining: answer.remainingPoints,
    reset_seconds: Math.ceil(reset_seconds),
    retry_after_seconds: refused ? Math.max(1, Math.ceil(missing / per_second)) : 0,
  }
}
