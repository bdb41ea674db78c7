import { readList } from '../../redis/bounded-reads.ts'
import type { RedisClient } from '../../redis/redis.ts'
import { type Move, maxMove, parseMove, policyKeys } from './policy-keys.ts'

/** How many moves the history keeps. Documents that none of them names are deleted. */
export const HISTORY = 500

/** The last moves in Redis, newest first. */
export async function readMoves(redis: RedisClient, most = HISTORY): Promise<readonly Move[]> {
  const within = Math.max(most, HISTORY)
  const { history } = policyKeys(redis.prefix)
  const texts = await readList(redis, history, { within, most, maxBytes: maxMove })
  return texts.flatMap((text) => parseMove(text) ?? [])
}
