import type { Socket } from 'node:net'
import type { Reply } from '../../gateway/reply.ts'

/** Where Node keeps it for requests of its own parser. */
interface ReplyingSocket {
  _httpMessage?: Reply | null
}

/** The response that is due or being sent on a connection, if any. */
export function replyInProgress(socket: Socket): Reply | undefined {
  return (socket as ReplyingSocket)._httpMessage ?? undefined
}

/** For replies that Node's parser does not know. */
export function setReplyInProgress(socket: Socket, reply: Reply | null): void {
  ;(socket as ReplyingSocket)._httpMessage = reply
}
