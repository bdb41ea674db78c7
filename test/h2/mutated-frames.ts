import {
  block,
  data,
  endHeaders,
  endStream,
  type Fields,
  frame,
  goaway,
  greeting,
  integer,
  padded,
  ping,
  post,
  priority,
  priorityFlag,
  rst,
  settings,
  settingsAck,
  windowUpdate,
} from './raw-peer.ts'

/** A whole number from 0 to below `below`. */
export type Random = (below: number) => number

/** The same numbers for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, below)
  }
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[random(items.length)] as Item
}

const names = [
  ...[':method', ':path', ':scheme', ':authority', ':status', ':protocol', ':', '', 'host'],
  ...['cookie', 'content-length', 'te', 'connection', 'transfer-encoding', 'Upper', 'x y', 'x\n'],
  ...['x-a', 'x-b', 'accept', 'x\0', 'x:y', 'grpc-timeout', 'upgrade'],
]
const values = [
  ...['GET', 'POST', 'OPTIONS', 'CONNECT', '/', '/a?b=c', '*', 'http://other/', 'https', 'http'],
  ...[
    'app.example',
    'other.example',
    '200',
    '103',
    '101',
    '204',
    '',
    ' x',
    'x\t',
    'a\r\nb: c',
    'a\0',
  ],
  ...['0', '3', '5', '-1', '99999999999999999999', 'trailers', 'chunked', 'caf\xe9', '\x7f', 'G T'],
  ...['x'.repeat(200), 'me@app.example', 'x'.repeat(5000)],
]

const responses: Fields[] = [
  [[':status', '200']],
  [[':status', '103']],
  [[':status', '204']],
  [
    [':status', '200'],
    ['content-length', '3'],
  ],
]
const withLength: Fields = [...post, ['content-length', '3']]

/** Header blocks: good ones, good ones with a hostile field, and compression of every kind. */
function blockOf(random: Random, role: 'server' | 'client'): Buffer {
  const good = role === 'server' ? pick(random, [post, withLength]) : pick(random, responses)
  switch (random(6)) {
    case 0:
      return block([...good, [pick(random, names), pick(random, values)]])
    case 1:
      return block(
        good.map(([name, value]) =>
          random(4) === 0 ? [name, pick(random, values)] : [name, value],
        ),
      )
    case 2:
      return Buffer.concat(Array.from({ length: random(12) }, () => fieldOf(random)))
    case 3:
      return Buffer.concat([
        block(good),
        ...Array.from({ length: random(4) }, () => fieldOf(random)),
      ])
    default:
      return block(good)
  }
}

/** One field of RFC 7541 6, in any of its forms. */
function fieldOf(random: Random): Buffer {
  switch (random(5)) {
    case 0:
      return withPattern(0x80, integer(0x7f, random(random(3) === 0 ? 300 : 70)))
    case 1:
      return withPattern(0x20, integer(0x1f, pick(random, [0, 100, 4096, 4097, 2 ** 27])))
    default: {
      const [pattern, mask] = pick(random, [
        [0x40, 0x3f],
        [0x00, 0x0f],
        [0x10, 0x0f],
      ] as const)
      const index = random(3) === 0 ? random(70) : 0
      const parts = [withPattern(pattern, integer(mask, index))]
      if (index === 0) parts.push(stringOf(random, pick(random, names)))
      return Buffer.concat([...parts, stringOf(random, pick(random, values))])
    }
  }
}

function withPattern(pattern: number, bytes: Buffer): Buffer {
  bytes[0] = (bytes[0] as number) | pattern
  return bytes
}

/** Sometimes of bytes that claim to be Huffman codes. */
function stringOf(random: Random, text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  const length = integer(0x7f, bytes.length)
  if (random(6) === 0) withPattern(0x80, length)
  return Buffer.concat([length, bytes])
}

function frameOf(random: Random, role: 'server' | 'client', lastId: number): Buffer {
  const id = random(5) === 0 ? random(12) : lastId
  switch (random(16)) {
    case 0:
      return data(id, 'abc', random(2))
    case 1:
      return data(id, Buffer.alloc(random(3) === 0 ? random(20_000) : random(10)), random(2))
    case 2:
      return frame(0, padded | random(2), id, Buffer.from([random(5), 97, 98, 99, 0, 0]))
    case 3:
      return rst(id, random(14))
    case 4:
      return windowUpdate(random(2) * id, pick(random, [0, 1, 1000, 65_535, 2 ** 30, 2 ** 31 - 1]))
    case 5:
      return settings([
        random(8),
        pick(random, [0, 1, 2, 100, 16_384, 65_535, 2 ** 31 - 1, 2 ** 31]),
      ])
    case 6:
      return random(2) === 0 ? settingsAck : ping(random(2))
    case 7:
      return priority(id, random(8), random(4) === 0 ? random(8) : 5)
    case 8:
      return random(4) === 0 ? goaway(random(10), random(14)) : ping()
    case 9:
      return frame(random(256), random(256), random(20), Buffer.alloc(random(20), random(256)))
    case 10:
      return inParts(random, id, blockOf(random, role))
    default: {
      const flags = endHeaders | random(2)
      if (random(8) > 0) return frame(1, flags, id, blockOf(random, role))
      const before = Buffer.from([2, 0, 0, 0, random(8), 9])
      return frame(
        1,
        flags | padded | priorityFlag,
        id,
        Buffer.concat([before, blockOf(random, role), Buffer.alloc(2)]),
      )
    }
  }
}

/** HEADERS and CONTINUATION frames, sometimes without an end. */
function inParts(random: Random, id: number, bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  let from = 0
  do {
    const to = Math.min(bytes.length, from + 1 + random(bytes.length))
    const isLast = to === bytes.length && random(10) > 0
    const flags = (isLast ? endHeaders : 0) | (from === 0 && random(2) === 0 ? endStream : 0)
    parts.push(frame(from === 0 ? 1 : 9, flags, id, bytes.subarray(from, to)))
    from = to
  } while (from < bytes.length)
  return Buffer.concat(parts)
}

/** Bits turned, bytes changed, lost, repeated or invented. */
function mutate(random: Random, bytes: Buffer): Buffer {
  const at = random(bytes.length)
  const length = 1 + random(12)
  switch (random(6)) {
    case 0: {
      const copy = Buffer.from(bytes)
      copy[at] = (copy[at] as number) ^ (1 << random(8))
      return copy
    }
    case 1: {
      const copy = Buffer.from(bytes)
      copy[at] = random(256)
      return copy
    }
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)])
    case 3:
      return Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)])
    case 4:
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.alloc(length, random(256)),
        bytes.subarray(at),
      ])
    default:
      return bytes.subarray(0, at)
  }
}

/** Frames that a peer in good order would send. */
function goodFrames(random: Random, role: 'server' | 'client', nextId: number): Buffer {
  const lastId = Math.max(0, nextId - 2)
  switch (random(8)) {
    case 0:
      return ping()
    case 1:
      return windowUpdate(random(2) * lastId, 1 + random(1000))
    case 2:
      return settings([4, 60_000 + random(10_000)], [1, pick(random, [0, 100, 4096])])
    case 3:
      return role === 'server' && lastId > 0 ? rst(lastId) : ping()
    case 4:
      return lastId > 0 && random(3) === 0 ? data(lastId, 'abc', random(2)) : ping()
    default:
      return goodMessage(random, role, nextId)
  }
}

function goodMessage(random: Random, role: 'server' | 'client', id: number): Buffer {
  if (role === 'client') return frame(1, endHeaders, id, block(pick(random, responses)))
  const head = pick(random, [post, withLength])
  const body = data(id, 'abc', random(2))
  return Buffer.concat([frame(1, endHeaders, id, block(head)), body])
}

/** A sequence of frames, in order but for some, cut into chunks of any size. */
export function mutatedChunks(
  random: Random,
  role: 'server' | 'client',
): { readonly chunks: readonly Buffer[]; readonly frames: number } {
  const frames: Buffer[] = [role === 'server' ? greeting : settings(), settingsAck]
  const isFlood = random(50) === 0
  const count = isFlood ? 1500 : 1 + random(40)
  const repeated = pick(random, [ping(), windowUpdate(0, 1), settings([4, 100]), priority(1, 0)])
  const wild = pick(random, [0, 20, 100, 500])
  let nextId = 1
  for (let left = count; left > 0; left--) {
    if (isFlood) frames.push(repeated)
    let next = isFlood ? repeated : goodFrames(random, role, nextId)
    if (random(1000) < wild) next = frameOf(random, role, nextId)
    if (random(3000) < wild) next = mutate(random, next)
    frames.push(next)
    if (next[3] === 1 && (role === 'server' || nextId < 7)) nextId += 2
  }
  const bytes = Buffer.concat(frames)
  const chunks: Buffer[] = []
  const most = pick(random, [3, 100, 2000, 100_000])
  for (let from = 0; from < bytes.length; ) {
    const to = from + 1 + random(Math.max(most, bytes.length / 200))
    chunks.push(bytes.subarray(from, to))
    from = to
  }
  return { chunks, frames: frames.length }
}
