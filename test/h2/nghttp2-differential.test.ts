import { once } from 'node:events'
import { connect, createServer as createHttp2Server, type IncomingHttpHeaders } from 'node:http2'
import { type AddressInfo, createServer, connect as open } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Session } from '../../src/h2/session.ts'
import { type Random, randomOf } from './mutated-frames.ts'

const limits = {
  maxStreams: 100,
  streamWindow: 65_535,
  connectionWindow: 131_072,
  headerBytes: 65_536,
  headerCount: 200,
}
const noEvents = { rejected() {}, idle() {}, goaway() {}, settings() {}, ended() {} }

const names = ['x-a', 'x-b', 'x-c', 'accept', 'user-agent', 'vary', 'x-'.padEnd(60, 'n'), 'etag']
const alphabets = [
  Array.from({ length: 94 }, (_, at) => String.fromCharCode(at + 33)),
  [...'0123456789abcdef'],
  // Rare bytes among frequent ones, so that Huffman codes are shorter and the encoder uses them.
  Array.from({ length: 128 }, (_, at) => `aaaaaaaaaaaaaaaa${String.fromCharCode(at + 128)}`),
]

/** Fields with different names: Node joins those with the same. */
function fieldsOf(random: Random): Record<string, string> {
  const fields: Record<string, string> = {}
  for (let left = 1 + random(6); left > 0; left--) {
    const alphabet = alphabets[random(alphabets.length)] as string[]
    const length = random(4) === 0 ? random(60) : 1 + random(8)
    const text = Array.from({ length }, () => alphabet[random(alphabet.length)]).join('')
    fields[names[random(names.length)] as string] = text
  }
  return fields
}

const pairs = (fields: IncomingHttpHeaders, wanted: object): [string, string][] =>
  Object.keys(wanted).map((name) => [name, String(fields[name])])

const tableSizes = [0, 64, 300, 4096, 65_536]

test.each([0, 100, 4096])(
  'nghttp2 compresses with a table of %i bytes, we read it',
  async (size) => {
    const random = randomOf(size + 1)
    const seen: string[][] = []
    const server = createServer((socket) => {
      const session = new Session('server', socket, limits, {
        ...noEvents,
        request: (stream, { headers }) => {
          seen.push(headers)
          stream.sendHeaders([':status', '200', ...headers], true)
          return { head() {}, data() {}, end() {}, drain() {}, closed() {} }
        },
      })
      socket.on('data', (chunk) => session.receive(chunk))
      socket.on('error', () => {})
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      maxDeflateDynamicTableSize: size,
    })
    onTestFinished(() => {
      client.destroy()
      server.close()
    })
    for (let round = 0; round < 100; round++) {
      const fields = fieldsOf(random)
      // Ours must shrink and grow as the client wants.
      if (random(5) === 0) {
        client.settings({ headerTableSize: tableSizes[random(tableSizes.length)] as number })
      }
      const stream = client.request({ ':path': '/', ...fields })
      const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders]
      stream.resume()
      expect(seen.pop()).toEqual(Object.entries(fields).flat())
      expect(pairs(head, fields)).toEqual(Object.entries(fields))
      await once(stream, 'close')
    }
  },
)

test('we compress, nghttp2 reads it, and its answers are read by us', async () => {
  const random = randomOf(99)
  const server = createHttp2Server({ settings: { headerTableSize: 300 } })
  const seen: IncomingHttpHeaders[] = []
  server.on('stream', (stream, headers) => {
    seen.push(headers)
    if (random(5) === 0) {
      stream.session?.settings({ headerTableSize: tableSizes[random(tableSizes.length)] as number })
    }
    const fields = Object.fromEntries(
      Object.entries(headers).filter(([name]) => names.includes(name)),
    )
    stream.respond({ ':status': 200, ...fields }, { endStream: true })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = open((server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
    server.close()
  })
  const session = new Session('client', socket, limits, {
    ...noEvents,
    request: () => expect.unreachable(),
  })
  socket.on('data', (chunk) => session.receive(chunk))
  for (let round = 0; round < 100; round++) {
    const fields = fieldsOf(random)
    const line = [':method', 'GET', ':scheme', 'http', ':authority', 'app.example', ':path', '/']
    const head = await new Promise<readonly string[]>((resolve, reject) => {
      let headers: readonly string[] = []
      session.open([...line, ...Object.entries(fields).flat()], true, {
        head: (response) => {
          headers = response.headers
        },
        data() {},
        end() {},
        drain() {},
        closed: (abort) =>
          abort === undefined ? resolve(headers) : reject(new Error(abort.reason)),
      })
    })
    expect(pairs(seen.pop() ?? {}, fields)).toEqual(Object.entries(fields))
    const own = head.flatMap((name, at) =>
      at % 2 === 0 && names.includes(name) ? [[name, head[at + 1]]] : [],
    )
    expect(own).toEqual(Object.entries(fields))
  }
})
