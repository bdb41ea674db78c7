import { type Answered, type Captcha, type Posts, Problem, type Providers } from '#client'
import { ask, submit } from './api.ts'
import { confirmation } from './state/confirmation.ts'
import { clearDrafts } from './state/draft.ts'
import { session } from './state/session.ts'

/** Finds out who is logged in. */
export async function findSession(): Promise<void> {
  try {
    session.set((await ask('session', {})).document)
  } catch (error) {
    // An outage is shown beside the login, which then fails too.
    if (error instanceof Problem) session.set(null)
    else throw error
  }
}

interface Credentials {
  readonly username: string
  readonly password: string
  /** The ID of the captcha and what is in its picture. */
  readonly uuid: string
  readonly code: string
  readonly otp: string | undefined
}

export async function logIn(credentials: Credentials): Promise<void> {
  session.set((await submit('login', credentials)).document)
}

export async function logOut(): Promise<void> {
  try {
    await submit('logout', {})
  } finally {
    clearDrafts()
    session.set(null)
  }
}

/** Where an identity provider lets its people in, or lets the owner of a session confirm it. */
export function providerAddress(url: string, { confirm = false } = {}): string {
  const here = encodeURIComponent(location.hash || '#/')
  return `${url}?to=${here}${confirm ? '&confirm' : ''}`
}

export function providerUrl(name: string): string {
  return `/console/api/v1/login/oidc/${encodeURIComponent(name)}`
}

/** Proves that the owner of the session is there. */
export async function confirmSession(password: string, otp: string | undefined): Promise<void> {
  session.set((await submit('session/confirm', { password, otp })).document)
}

/**
 * Changes something. If the last password was entered too long ago, asks for it first. `undefined`: the
 * reader cancelled.
 */
export async function change<Path extends keyof Posts>(
  path: Path,
  body: Posts[Path]['input'],
): Promise<Answered<Posts[Path]['document']> | undefined> {
  try {
    return await submit(path, body)
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'confirmation-needed') throw error
  }
  const { promise, resolve } = Promise.withResolvers<boolean>()
  confirmation.set({ done: resolve })
  return (await promise) ? submit(path, body) : undefined
}

export async function fetchCaptcha(signal: AbortSignal): Promise<Captcha> {
  return (await ask('captcha', {}, { signal, isOptional: true })).document
}

export async function fetchLoginMethods(signal: AbortSignal): Promise<Providers> {
  return (await ask('providers', {}, { signal, isOptional: true })).document
}
