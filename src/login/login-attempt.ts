import type { Fields } from './fields.ts'

export interface LoginAttempt {
  /** Throws a Refusal when the body has no fields. */
  readonly fields: () => Fields
  /** A cookie of the browser that makes the attempt. */
  readonly cookie: (name: string) => string | undefined
  /** Sets a cookie in that browser, whatever becomes of the attempt. */
  readonly setCookie?: ((cookie: string) => void) | undefined
  readonly address: string
  readonly userAgent: string
  /** Whether a page of another site made the browser send it. */
  readonly foreign: boolean
}
