import { codeOf } from '../grpc/status.ts'
import { readMessage, replyMessage, replyStatus } from '../grpc/unary.ts'
import type { AnswerCall } from './check-call.ts'
import { numberField, readFields } from './protobuf.ts'

const maxMessageBytes = 1024
const serving = 1
const notServing = 2

/** `grpc.health.v1.Health/Check` about this listener as a whole or one of `services`. */
export function createHealthCall(services: readonly string[], isReady: () => boolean): AnswerCall {
  const known = new Set(['', ...services])

  return async (call, reply) => {
    let service = ''
    readFields(await readMessage(call, maxMessageBytes), (field, content) => {
      if (field === 1) service = content?.toString('latin1') ?? ''
    })
    if (known.has(service)) replyMessage(reply, numberField(1, isReady() ? serving : notServing))
    else replyStatus(reply, codeOf('notFound'), 'unknown service')
  }
}
