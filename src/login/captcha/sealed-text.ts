import type { DerivedKeys } from '../../token/derived-keys.ts'
import { cipherKey, decrypt, encrypt } from '../authenticated-cipher.ts'

/**
 * Encrypts the text of a captcha for the address of its picture and of its sound, so that both have the
 * same answer on every replica without a second store. The text ends at `expiresAt`, in seconds.
 */
export function sealText(keys: DerivedKeys, text: string, expiresAt: number): string {
  const { id, key } = keys.current()
  return `${encrypt(cipherKey(key), `${Math.floor(expiresAt)}:${text}`)}.${id}`
}

/** `undefined` for what is expired, was sealed with another key, or is not sealed at all. */
export function openText(keys: DerivedKeys, sealed: string, now: number): string | undefined {
  const dot = sealed.indexOf('.')
  const key = dot === -1 ? undefined : keys.find(sealed.slice(dot + 1))
  const opened = key === undefined ? undefined : decrypt(cipherKey(key), sealed.slice(0, dot))
  const [expiresAt, text] = opened?.toString().split(':') ?? []
  return Number(expiresAt) > now ? text : undefined
}
