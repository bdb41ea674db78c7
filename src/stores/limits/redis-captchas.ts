import { Fault } from '../../kernel/errors.ts'
import type { CaptchaStore } from '../../login/captcha/captcha.ts'
import { loadScript, type RedisClient } from '../redis/redis.ts'
import { forgetFunction } from './redis-counters.ts'

const putScript = loadScript(new URL('./lua/put-captcha.lua', import.meta.url), { forgetFunction })
const takeScript = loadScript(new URL('./lua/take-captcha.lua', import.meta.url))

/**
 * Captchas that all replicas share. Each can be taken once, before it expires. At most
 * `maxOutstanding` are kept; the oldest is dropped first. An unreachable Redis is a Fault: without it
 * a replica cannot know whether a captcha was used.
 */
export function createRedisCaptchas(
  redis: RedisClient,
  { maxOutstanding }: { readonly maxOutstanding: number },
): CaptchaStore {
  const keys = [`${redis.prefix}captchas`, `${redis.prefix}captchas:digests`] as const

  return {
    async put(id, answerDigest, ttlSeconds) {
      const ttlMs = Math.ceil(ttlSeconds * 1000)
      await redis.runScript(putScript, keys, [id, answerDigest, ttlMs, maxOutstanding])
    },
    async take(id) {
      const digest = await redis.runScript(takeScript, keys, [id])
      if (digest === null) return undefined
      if (typeof digest === 'string') return digest
      throw new Fault('redis', { reason: 'Redis: unexpected reply' })
    },
  }
}
