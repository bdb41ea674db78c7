import type { Socket } from 'node:net'

/** A request to the process that has the embedded database open. */
export type WireRequest =
  | { readonly op: 'query'; readonly sql: string; readonly params: readonly unknown[] }
  | { readonly op: 'begin' | 'commit' | 'rollback' }

interface WireResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly affectedRows?: number
}

interface WireError {
  readonly error: { readonly message: string; readonly code?: string }
}

export type WireReply = WireResult | WireError

/** Larger than any batch of ours; a peer that sends more is not one of ours. */
const maxFrameChars = 16 * 1024 * 1024

/** Sends one frame: a line of JSON in which times, bytes and large numbers keep their type. */
export function sendFrame(socket: Socket, frame: WireRequest | WireReply): void {
  socket.write(`${JSON.stringify(pack(frame))}\n`)
}

/** Calls back with every complete frame. Anything else closes the connection. */
export function onFrames(socket: Socket, take: (frame: unknown) => void): void {
  let rest = ''
  socket.setEncoding('utf8')
  socket.on('data', (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > maxFrameChars) socket.destroy(new Error('the frame is too long'))
    try {
      for (const line of lines) take(unpack(JSON.parse(line)))
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  })
}

/** JSON scalars are written as they are; everything else becomes a pair of tag and content. */
function pack(value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (typeof value === 'bigint') return ['bigint', value.toString()]
  if (typeof value === 'number') return packNumber(value)
  if (typeof value !== 'object') return value
  if (value instanceof Date) return ['date', pack(value.getTime())]
  if (value instanceof Uint8Array) return ['bytes', Buffer.from(value).toString('base64')]
  if (Array.isArray(value)) return ['array', value.map(pack)]
  return ['object', Object.entries(value).map(([name, inner]) => [name, pack(inner)])]
}

/** NaN and the infinities have no JSON, and -0 would lose its sign. */
function packNumber(value: number): unknown {
  if (Object.is(value, -0)) return ['float', '-0']
  return Number.isFinite(value) ? value : ['float', String(value)]
}

function unpack(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  const [tag, content] = value
  switch (tag) {
    case 'bigint':
      return BigInt(content)
    case 'float':
      return Number(content)
    case 'date':
      return new Date(unpack(content) as number)
    case 'bytes':
      return Buffer.from(content, 'base64')
    case 'array':
      return content.map(unpack)
    case 'object':
      return Object.fromEntries(
        content.map(([name, inner]: [string, unknown]) => [name, unpack(inner)]),
      )
    default:
      throw new Error('the frame has an unknown tag')
  }
}
