import { withTimeout } from '../../background/with-timeout.ts'
import { createListener, type RedisSettings } from './redis-connection.ts'

/** Listens on one channel, on a connection of its own. What it hears is a hint, never a fact. */
export type RedisSubscriber = ReturnType<typeof createSubscriber>

interface Subscription {
  readonly channel: string
  /**
   * Called at every message, and without one whenever listening (again) begins: what was said before
   * that was missed.
   */
  readonly onHint: (message?: string) => void
  /** Called when listening ends before `close`. */
  readonly onLost?: () => void
}

/** Starts listening. */
export function createSubscriber(
  settings: RedisSettings,
  { channel, onHint, onLost }: Subscription,
) {
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
    const wasListening = listening
    listening = false
    if (wasListening && !closed) onLost?.()
  })
  connection.on('ready', () => void listen())
  connection.on('message', (_, message: string) => onHint(message))
  // Commands fail for the same reason and report it.
  connection.connect().catch(() => {})

  return {
    /** Subscribes again if the connection is dead. Call it every few seconds. */
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
