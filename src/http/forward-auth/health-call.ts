import type { IsTrusted } from '../../gateway/arrival/trusted-peers.ts'
import { codeOf } from '../grpc/status.ts'
import { readMessage, replyMessage, replyStatus } from '../grpc/unary.ts'
import { type AnswerCall, refuseStranger } from './check-call.ts'
import { encoded, Fields, latin1Of, numberField, wholeOf } from './protobuf.ts'

const maxMessageBytes = 1024
const serving = 1
const notServing = 2

interface HealthParts {
  readonly isReady: () => boolean
  readonly isTrusted: IsTrusted
}

/** `grpc.health.v1.Health/Check` about this listener as a whole or one of `services`. */
export function createHealthCall(services: readonly string[], parts: HealthParts): AnswerCall {
  const known = new Set(['', ...services])

  return async (call, reply) => {
    refuseStranger(call, parts.isTrusted)
    const fields = new Fields(wholeOf(await readMessage(call, maxMessageBytes)))
    let service = ''
    while (fields.next()) if (fields.field === 1) service = latin1Of(fields.content())
    if (known.has(service)) {
      replyMessage(reply, encoded(numberField(1, parts.isReady() ? serving : notServing)))
    } else replyStatus(reply, codeOf('notFound'), 'unknown service')
  }
}
