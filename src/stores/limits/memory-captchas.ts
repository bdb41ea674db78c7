import { createLru } from '../../kernel/lru.ts'
import type { CaptchaStore } from '../../login/captcha/captcha.ts'

interface MemoryCaptchaOptions {
  /** At this many, the oldest is dropped for the next. */
  readonly maxOutstanding: number
  /** Milliseconds since some fixed moment. */
  readonly now?: () => number
}

/**
 * Captchas of one process. Each can be taken once, before it expires. Clients cannot make it keep
 * more than `maxOutstanding`.
 */
export function createMemoryCaptchas({
  maxOutstanding,
  now = Date.now,
}: MemoryCaptchaOptions): CaptchaStore {
  const outstanding = createLru<{ readonly answerDigest: string; readonly expiresAt: number }>(
    maxOutstanding,
  )

  return {
    async put(id, answerDigest, ttlSeconds) {
      outstanding.set(id, { answerDigest, expiresAt: now() + ttlSeconds * 1000 })
    },
    async take(id) {
      const captcha = outstanding.get(id)
      outstanding.delete(id)
      return captcha !== undefined && now() < captcha.expiresAt ? captcha.answerDigest : undefined
    },
  }
}
