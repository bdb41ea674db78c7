import type { Socket } from 'node:net'
import type { Reply } from '../../gateway/reply.ts'

/** Where Node keeps it for what it reads itself. */
interface Answering {
  _httpMessage?: Reply | null
}

/** The answer that a connection waits for or is being given, if there is one. */
export function replyInProgress(socket: Socket): Reply | undefined {
  return (socket as Answering)._httpMessage ?? undefined
}

/** Tells of one that Node does not know. */
export function setReplyInProgress(socket: Socket, reply: Reply | null): void {
  ;(socket as Answering)._httpMessage = reply
}
