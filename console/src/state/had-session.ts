import { session } from './session.ts'

const key = 'postern-had-session'

/** Whether someone was logged in when this browser last asked: a guess, before it asks again. */
export function hadSession(): boolean {
  try {
    return localStorage.getItem(key) !== null
  } catch {
    return false
  }
}

/** Remembers for the next page that is loaded. */
export function rememberSession(): void {
  session.follow(() => {
    try {
      if (session.get()) localStorage.setItem(key, 'yes')
      else localStorage.removeItem(key)
    } catch {}
  })
}
