import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import type { DerivedKeys } from '../../token/derived-keys.ts'

/** Issued captchas. `take` removes what it returns, atomically. */
export interface CaptchaStore {
  put(id: string, answerDigest: string, ttlSeconds: number): Promise<void>
  take(id: string): Promise<string | undefined>
}

interface CaptchaParts {
  readonly store: CaptchaStore
  readonly draw: (text: string) => Promise<Buffer>
  readonly length: number
  readonly alphabet: string
  readonly ttlSeconds: number
  /** Answers are stored as keyed digests, so that the store does not reveal them. */
  readonly digestKeys: DerivedKeys
}

export interface IssuedCaptcha {
  readonly id: string
  readonly png: Buffer
}

/**
 * A captcha is friction; the throttle is the defense. It is good for one attempt, right or wrong. Its
 * text leaves this file only as a picture.
 */
export function createCaptchas({ store, draw, ...rest }: CaptchaParts) {
  const { length, alphabet, ttlSeconds, digestKeys } = rest

  async function issue(): Promise<IssuedCaptcha> {
    const id = randomText(20, idAlphabet)
    const text = randomText(length, alphabet)
    const { id: keyId, key } = digestKeys.current()
    // With the key ID: the replica that checks may have another current key.
    await store.put(id, `${digest(key, id, text)}:${keyId}`, ttlSeconds)
    return { id, png: await draw(text) }
  }

  async function check(id: string, answer: string): Promise<boolean> {
    const [expected = '', keyId = ''] = (await store.take(id))?.split(':') ?? []
    const key = digestKeys.find(keyId)
    if (key === undefined) return false
    const given = digest(key, id, answer)
    // Foreign data in the store is a wrong answer, not a bug.
    if (expected.length !== given.length) return false
    return timingSafeEqual(Buffer.from(expected), Buffer.from(given))
  }

  return { issue, check }
}

function digest(key: string, id: string, text: string): string {
  return createHmac('sha256', key).update(`${id}:${text}`).digest('base64url')
}

/** IDs as existing clients know them: twenty characters, without look-alikes. */
const idAlphabet = '012346789ABCDEFGHJKMNOQRSTUVXYZabcdefghjkmnoqrstuvxyz'

function randomText(length: number, alphabet: string): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}
