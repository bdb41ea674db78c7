import { withTimeout } from '../with-timeout.ts'
import { createListener, type RedisSettings } from './redis-connection.ts'

/** Listens on one channel, on a connection of its own. What it hears is a hint, never a fact. */
export interface RedisSubscriber {
  /** Subscribes again if the connection is dead. Call it every few seconds. */
  readonly check: () => Promise<void>
  readonly close: () => void
}

/**
 * Starts listening. `onHint` is called at every message, and whenever listening (again) begins:
 * what was said before that was missed.
 */
export function createSubscriber(
  settings: RedisSettings,
  { channel, onHint }: { readonly channel: string; readonly onHint: () => void },
): RedisSubscriber {
  const connection = createListener(settings)
  let listening = false
  let closed = false

  async function listen(): Promise<void> {
    try {
      await withTimeout(settings.commandTimeoutMs, connection.subscribe(channel))
      listening = true
      onHint()
    } catch {
      // The next check tries again; until then, polling finds what is new.
      listening = false
    }
  }

  connection.on('error', () => {})
  connection.on('close', () => {
    listening = false
  })
  connection.on('ready', () => void listen())
  connection.on('message', onHint)
  // Commands fail for the same reason and report it.
  connection.connect().catch(() => {})

  return {
    async check() {
      if (closed || connection.status !== 'ready') return
      if (!listening) return listen()
      try {
        await withTimeout(settings.commandTimeoutMs, connection.ping())
      } catch {
        // An idle listener would not notice for minutes that the other side is gone.
        if (!closed) connection.disconnect(true)
      }
    },
    close() {
      closed = true
      connection.disconnect()
    },
  }
}
