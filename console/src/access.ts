import type { Captcha, Providers, Session } from '#client'
import { type Answered, ask, base, Problem, submit } from './api.ts'
import { confirmation } from './state/confirmation.ts'
import { clearDrafts } from './state/draft.ts'
import { session } from './state/session.ts'

/** Finds out who is logged in. */
export async function findSession(): Promise<void> {
  try {
    session.set((await ask<Session>('session')).value)
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
  session.set((await submit<Session>('login', { ...credentials })).value)
}

export async function logOut(): Promise<void> {
  try {
    await submit('logout')
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
  return `${base}login/oidc/${encodeURIComponent(name)}`
}

/** Proves that the owner of the session is there. */
export async function confirmSession(password: string, otp: string | undefined): Promise<void> {
  session.set((await submit<Session>('session/confirm', { password, otp })).value)
}

/**
 * Changes something. If the last password was entered too long ago, asks for it first. `undefined`: the
 * reader cancelled.
 */
export async function change<T>(
  operation: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Answered<T> | undefined> {
  try {
    return await submit<T>(operation, body)
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'confirmation-needed') throw error
  }
  const { promise, resolve } = Promise.withResolvers<boolean>()
  confirmation.set({ done: resolve })
  return (await promise) ? submit<T>(operation, body) : undefined
}

export async function fetchCaptcha(signal: AbortSignal): Promise<Captcha> {
  return (await ask<Captcha>('captcha', {}, { signal, isOptional: true })).value
}

export async function fetchLoginMethods(signal: AbortSignal): Promise<Providers> {
  return (await ask<Providers>('providers', {}, { signal, isOptional: true })).value
}
