import type { Arrival } from '../../gateway/arrival/arrival.ts'
import type { Reply } from '../../gateway/reply.ts'
import { Refusal } from '../../kernel/errors.ts'
import { readBody } from '../read-body.ts'

/** Compression flag and length. */
const prefixLength = 5

/** The message is sent at once; the timeout of request bodies does not apply to gRPC calls. */
const timeoutMs = 10_000

/** The one message of a unary call, uncompressed. */
export async function readMessage({ body }: Arrival, maxBytes: number): Promise<Buffer> {
  const bytes = await inTime(readBody(body, prefixLength + maxBytes))
  if (bytes === undefined) throw new Refusal('body-too-large')
  const isOne =
    bytes.length >= prefixLength && bytes.readUInt32BE(1) === bytes.length - prefixLength
  if (!isOne || bytes[0] !== 0) {
    throw new Refusal('bad-request', { reason: 'not one uncompressed gRPC message' })
  }
  return bytes.subarray(prefixLength)
}

async function inTime<Value>(reading: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Refusal('body-too-slow')), timeoutMs)
  })
  try {
    return await Promise.race([reading, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Sends the response of a call that succeeded. */
export function replyMessage(reply: Reply, message: Buffer): void {
  const prefix = Buffer.alloc(prefixLength)
  prefix.writeUInt32BE(message.length, 1)
  reply.writeHead(200, ['content-type', 'application/grpc'])
  reply.write(Buffer.concat([prefix, message]), () => {})
  reply.addTrailers([['grpc-status', '0']])
  reply.end()
}

/** Sends the response of a call that failed: a status and no message. */
export function replyStatus(reply: Reply, code: number, message: string): void {
  reply.writeHead(200, [
    'content-type',
    'application/grpc',
    'grpc-status',
    String(code),
    'grpc-message',
    message,
  ])
  reply.end()
}
