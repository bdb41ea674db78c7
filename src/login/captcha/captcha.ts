import { createHash, createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import type { DerivedKeys } from '../../token/derived-keys.ts'
import { openText, sealText } from './sealed-text.ts'
import type { SpokenLanguage } from './spoken-text.ts'

/** Issued captchas. `take` removes what it returns, atomically. */
export interface CaptchaStore {
  put(id: string, answerDigest: string, ttlSeconds: number): Promise<void>
  take(id: string): Promise<string | undefined>
}

interface CaptchaParts {
  readonly store: CaptchaStore
  readonly draw: (text: string, noise?: Buffer) => Promise<Buffer>
  readonly length: number
  readonly alphabet: string
  readonly ttlSeconds: number
  /** Answers are stored as keyed digests, so that the store does not reveal them. */
  readonly digestKeys: DerivedKeys
  readonly sealKeys: DerivedKeys
  /** Seconds since the epoch. */
  readonly now: () => number
}

export interface IssuedCaptcha {
  readonly id: string
  readonly png: Buffer
}

/** A captcha whose picture is fetched separately. */
export interface OfferedCaptcha {
  readonly id: string
  /** The encrypted text, for `picture`. */
  readonly sealed: string
}

/**
 * A captcha is friction; the throttle is the defense. It is good for one attempt, right or wrong. Its
 * text leaves this file only as a picture, or encrypted.
 */
export function createCaptchas({ store, draw, ...rest }: CaptchaParts) {
  const { length, alphabet, ttlSeconds, digestKeys, sealKeys, now } = rest

  async function create() {
    const id = randomText(20, idAlphabet)
    const text = randomText(length, alphabet)
    const { id: keyId, key } = digestKeys.current()
    // With the key ID: the replica that checks may have another current key.
    await store.put(id, `${digest(key, id, text)}:${keyId}`, ttlSeconds)
    return { id, text }
  }

  async function issue(): Promise<IssuedCaptcha> {
    const { id, text } = await create()
    return { id, png: await draw(text) }
  }

  async function offer(): Promise<OfferedCaptcha> {
    const { id, text } = await create()
    return { id, sealed: sealText(sealKeys, text, now() + ttlSeconds) }
  }

  /** `undefined` for what `offer` did not return, or too long ago. */
  async function picture(sealed: string): Promise<Buffer | undefined> {
    const text = openText(sealKeys, sealed, now())
    return text === undefined ? undefined : draw(text, noiseOf(sealKeys.current().key, sealed))
  }

  /** Reads the text of a captcha aloud. The samples are loaded with the first recording. */
  async function recording(sealed: string, language: SpokenLanguage): Promise<Buffer | undefined> {
    const text = openText(sealKeys, sealed, now())
    if (text === undefined) return undefined
    const { speakText } = await import('./spoken-text.ts')
    return speakText(text, language, noiseOf(sealKeys.current().key, `${language}:${sealed}`))
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

  return { issue, offer, picture, recording, check }
}

function digest(key: string, id: string, text: string): string {
  return createHmac('sha256', key).update(`${id}:${text}`).digest('base64url')
}

/**
 * One captcha always gets the same noise: several distortions of one text are easier for a program. Keyed: a
 * program that knows the noise could draw every possible text and compare.
 */
function noiseOf(key: string, sealed: string): Buffer {
  return createHash('shake256', { outputLength: 512 }).update(`${key}:${sealed}`).digest()
}

/** IDs as existing clients know them: twenty characters, without look-alikes. */
const idAlphabet = '012346789ABCDEFGHJKMNOQRSTUVXYZabcdefghjkmnoqrstuvxyz'

function randomText(length: number, alphabet: string): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}
