import type { ConnectionOptions } from 'node:tls'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { Flag, FrameType } from '../../src/h2/frames.ts'
import { connectFrames, data, type FrameClient, headers } from './frame-client.ts'
import { type Field, valuesOf } from './http-text.ts'
import type { RawAnswer } from './raw-client.ts'
import { until } from './until.ts'

/** Whether `call` of a test's gateway speaks HTTP/2: POSTERN_TEST_HTTP2=true. */
export const speaksHttp2 = process.env['POSTERN_TEST_HTTP2'] === 'true'

export interface Http2Call {
  readonly port: number
  readonly line: string
  /** Lines as in HTTP/1.1. */
  readonly headers: readonly string[]
  readonly host: string
  readonly body?: string | undefined
  readonly localAddress?: string | undefined
  readonly tls?: ConnectionOptions | undefined
}

/**
 * The same request as over HTTP/1.1, on a connection of HTTP/2. What a client has to leave out there
 * (Connection and its like) is left out; everything else goes out as it is. A stream that is reset as
 * malformed counts as the 400 that it would be in HTTP/1.1, and a header section that is too long for
 * a header block as 431.
 */
export async function callHttp2(call: Http2Call): Promise<RawAnswer> {
  const { port, line, body, host, tls, localAddress } = call
  const client = await connectFrames(port, [], { tls, localAddress })
  const [method = '', ...target] = line.split(' ')
  const fields = [
    [':method', method],
    [':scheme', tls === undefined ? 'http' : 'https'],
    [':path', target.join(' ')],
    [':authority', host],
    ...call.headers.map(toField).filter(([name]) => !connectionSpecific.has(name)),
  ] as const
  client.send(headers(1, fields, { body: body !== undefined && body !== '' }))
  if (body !== undefined && body !== '') client.send(data(1, body, true))
  await until(() => client.isClosed || isEnded(client))
  client.socket.destroy()
  return answerOf(client)
}

const connectionSpecific = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

function isEnded({ frames }: FrameClient): boolean {
  return frames.some(
    ({ type, flags, streamId }) =>
      streamId === 1 && (type === FrameType.rstStream || (flags & Flag.endStream) !== 0),
  )
}

function answerOf(client: FrameClient): RawAnswer {
  const [first, last] = [finalBlocks(client)[0], finalBlocks(client)[1]]
  const reset = client.frames.find(({ type }) => type === FrameType.rstStream)
  const goaway = client.frames.find(({ type }) => type === FrameType.goaway)
  if (first === undefined) {
    const code = (reset ?? goaway)?.payload.readUInt32BE(reset === undefined ? 4 : 0)
    if (code === ErrorCode.protocolError) return answer(400, [], '{"code":400}', [])
    if (code === ErrorCode.enhanceYourCalm) return answer(431, [], '', [])
    throw new Error(`no answer over HTTP/2 (code ${code})`)
  }
  const text = client.frames
    .filter(({ type, streamId }) => type === FrameType.data && streamId === 1)
    .map(({ payload }) => payload.toString('latin1'))
    .join('')
  const status = Number(valuesOf(first, ':status')[0])
  return answer(
    status,
    first.filter(([name]) => !name.startsWith(':')),
    text,
    last ?? [],
  )
}

/** Without those of interim responses. */
function finalBlocks(client: FrameClient): readonly (readonly Field[])[] {
  return client.blocks(1).filter((block) => !(valuesOf(block, ':status')[0] ?? '').startsWith('1'))
}

function answer(
  status: number,
  fields: readonly Field[],
  body: string,
  trailers: readonly Field[],
): RawAnswer {
  return {
    status,
    headers: fields,
    body,
    trailers,
    header: (name) => valuesOf(fields, name)[0],
    json: () => JSON.parse(Buffer.from(body, 'latin1').toString('utf8')),
  }
}

function toField(line: string): Field {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
