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
export function createMemoryCaptchas(options: MemoryCaptchaOptions): CaptchaStore {
  const { maxOutstanding, now = Date.now } = options
  const outstanding = new Map<string, { answerDigest: string; expiresAt: number }>()

  return {
    async put(id, answerDigest, ttlSeconds) {
      outstanding.delete(id)
      for (const oldest of outstanding.keys()) {
        if (outstanding.size < maxOutstanding) break
        outstanding.delete(oldest)
      }
      outstanding.set(id, { answerDigest, expiresAt: now() + ttlSeconds * 1000 })
    },
    async take(id) {
      const captcha = outstanding.get(id)
      outstanding.delete(id)
      return captcha !== undefined && now() < captcha.expiresAt ? captcha.answerDigest : undefined
    },
  }
}
