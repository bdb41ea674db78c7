import { Flag, FrameType, maxFrameBytes, smallFrame } from '../../src/h2/frames.ts'

export type Fields = readonly (readonly [string, string])[]

/** Fields as literals that no table remembers, so that they can be anything. */
export function literals(fields: Fields): Buffer {
  return Buffer.concat(
    fields.map(([name, value]) => {
      const [nameBytes, valueBytes] = [Buffer.from(name, 'latin1'), Buffer.from(value, 'latin1')]
      return Buffer.concat([Buffer.of(0), sized(nameBytes), sized(valueBytes)])
    }),
  )
}

function sized(bytes: Buffer): Buffer {
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes])
  const length = [127]
  let rest = bytes.length - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128)
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}

export function requestFields(line: string, headers: Fields = []): (readonly [string, string])[] {
  const [method = '', path = ''] = line.split(' ')
  return [
    [':method', method],
    [':scheme', 'http'],
    [':path', path],
    [':authority', 'gateway.test'],
    ...headers,
  ]
}

/** A HEADERS frame, with CONTINUATION if it takes that. It ends the stream unless a body follows. */
export function headers(id: number, fields: Fields, { body = false } = {}): Buffer {
  const block = literals(fields)
  const frames: Buffer[] = []
  for (let at = 0; at === 0 || at < block.length; at += maxFrameBytes) {
    const isLast = at + maxFrameBytes >= block.length
    const flags = (isLast ? Flag.endHeaders : 0) | (at === 0 && !body ? Flag.endStream : 0)
    const type = at === 0 ? FrameType.headers : FrameType.continuation
    frames.push(smallFrame(type, flags, id, block.subarray(at, at + maxFrameBytes)))
  }
  return Buffer.concat(frames)
}

export function data(id: number, text: string | Buffer, isLast: boolean): Buffer {
  return smallFrame(FrameType.data, isLast ? Flag.endStream : 0, id, Buffer.from(text))
}
