import type { ThrownError } from './messages.ts'

const maxMessage = 500
const maxStack = 2000

/** Reads whatever a module threw. Never throws itself, even for an error with getters that do. */
export function describeThrown(error: unknown): ThrownError {
  try {
    if (!(error instanceof Error)) {
      return { name: 'Error', message: String(error).slice(0, maxMessage), stack: '' }
    }
    const { name, message, stack, cause } = error
    const why = cause instanceof Error ? ` (${cause.message})` : ''
    return {
      name: String(name).slice(0, 64),
      message: `${message}${why}`.slice(0, maxMessage),
      stack: String(stack ?? '').slice(0, maxStack),
    }
  } catch {
    return { name: 'Error', message: 'unreadable error', stack: '' }
  }
}
