import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/**
 * The most that one reply may have: several times the largest that gateways and commands ask for, which
 * is the users of all sessions. Documents of policies come in pieces.
 */
export const maxReplyBytes = 64 * 1024 * 1024

/** A command that waits for its reply. */
interface Waiting {
  readonly command: { readonly name: string; getKeys(): readonly unknown[] }
}

/** What the driver passes its decoded replies to, as far as this file uses it. */
interface ReplyHandler {
  readonly redis: {
    readonly commandQueue: { readonly length: number; peekFront(): Waiting | undefined }
    recoverFromFatalError(commandError: unknown, error: unknown, options: object): void
  }
  dispatch(take: () => void): void
  shiftCommand(reply: unknown): unknown
  returnFatalError(error: unknown): void
}

/** What decodes replies. */
interface ReplyDecoder {
  write(chunk: Uint8Array): void
}

/**
 * Makes the driver drop a connection whose replies do not fit its commands. On its own it throws in
 * the next tick at some of them, which ends the process, and keeps the connection at others, where
 * every later reply may be taken for that of another command.
 *
 * So with a reply that is too large: anyone who can write to Redis can store 512 MB under any key, and
 * must not choose how much memory a gateway takes.
 */
export function dropOnInvalidReply(): void {
  const handler: ReplyHandler = require('ioredis/built/DataHandler.js').default.prototype
  const { shiftCommand } = handler
  const decoded = boundReplies()
  handler.dispatch = function dispatch(take) {
    decoded()
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
  handler.returnFatalError = function drop(error) {
    const named = error instanceof TooLarge ? new Error(whichIsTooLarge(this.redis)) : error
    this.redis.recoverFromFatalError(named, named, { offlineQueue: false })
  }
}

/** Returns what to call with every reply that was decoded. */
function boundReplies(): () => void {
  const decoder: ReplyDecoder = require('ioredis/built/resp/decoder.js').Decoder.prototype
  const { write } = decoder
  const unfinished = new WeakMap<ReplyDecoder, number>()
  let replies = 0
  decoder.write = function bounded(chunk) {
    const known = unfinished.get(this) ?? 0
    // More arrives until the connection closes, and the decoder would keep it.
    if (known === Number.POSITIVE_INFINITY) return
    if (known > maxReplyBytes) {
      unfinished.set(this, Number.POSITIVE_INFINITY)
      throw new TooLarge()
    }
    const before = replies
    write.call(this, chunk)
    unfinished.set(this, chunk.length + (replies === before ? known : 0))
  }
  return () => {
    replies++
  }
}

class TooLarge extends Error {}

/** An operator has to know the key, to delete it. */
function whichIsTooLarge({ commandQueue }: ReplyHandler['redis']): string {
  const most = `${maxReplyBytes / 1024 / 1024} MiB`
  const command = commandQueue.peekFront()?.command
  if (command === undefined) return `a message has more than ${most}`
  const of = [command.name.toUpperCase(), ...command.getKeys().slice(0, 1)].join(' ')
  return `the reply to ${of} has more than ${most}: delete that key`
}
