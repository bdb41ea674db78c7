import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** What the driver passes its decoded replies to, as far as this file uses it. */
interface ReplyHandler {
  readonly redis: { readonly commandQueue: { readonly length: number } }
  dispatch(take: () => void): void
  shiftCommand(reply: unknown): unknown
  returnFatalError(error: unknown): void
}

/**
 * Makes the driver drop a connection whose replies do not fit its commands. On its own it throws in
 * the next tick at some of them, which ends the process, and keeps the connection at others, where
 * every later reply may be taken for that of another command.
 */
export function dropOnInvalidReply(): void {
  const handler: ReplyHandler = require('ioredis/built/DataHandler.js').default.prototype
  const { shiftCommand } = handler
  handler.dispatch = function dispatch(take) {
    try {
      take()
    } catch (error) {
      this.returnFatalError(error)
    }
  }
  handler.shiftCommand = function shift(reply) {
    if (this.redis.commandQueue.length === 0) throw new Error('Redis sent a reply to no command')
    return shiftCommand.call(this, reply)
  }
}
