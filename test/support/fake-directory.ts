import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { BerReader, BerWriter } from 'ldapts'
import { onTestFinished } from 'vitest'

export interface FakeEntry {
  readonly dn: string
  readonly attributes: Readonly<Record<string, readonly (string | Buffer)[]>>
}

interface FakeOptions {
  /** The result code of a bind; `undefined` is no answer at all. */
  readonly bind?: (name: string, password: string) => number | undefined
  /** What a search finds; `undefined` is no answer at all. `request` has the values of the filter in it. */
  readonly search?: (base: string, request: string) => readonly FakeEntry[] | undefined
  /** Answers a search in its own way. */
  readonly onSearch?: (socket: Socket, id: number) => void
  /** The text of refused binds. */
  readonly refusal?: string
  /** Certificate and key, for StartTLS. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** What follows the answer to StartTLS, in plain text. */
  readonly injected?: Buffer
  /** Never answers the TLS handshake after StartTLS. */
  readonly silentTls?: boolean
  /** Reads nothing. */
  readonly deaf?: boolean
}

/** What an operation was, whether TLS protected it, and as whom its connection was bound. */
interface Operation {
  readonly kind: 'bind' | 'search'
  readonly name: string
  readonly secure: boolean
  readonly boundAs: string
}

/** A server that speaks LDAP as a test wants it, on a free port. Ends with the test. */
export async function startFakeDirectory(options: FakeOptions) {
  const sockets = new Set<Socket>()
  const operations: Operation[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    if (!options.deaf) speak(socket, options, operations, false)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    cut()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { url: `ldap://127.0.0.1:${port}`, operations, cut, connections: () => sockets.size }
}

function speak(socket: Socket, options: FakeOptions, operations: Operation[], secure: boolean) {
  let waiting = Buffer.alloc(0)
  let boundAs = ''
  socket.on('error', () => {})
  socket.on('data', read)

  function read(chunk: Buffer): void {
    waiting = Buffer.concat([waiting, chunk])
    for (;;) {
      const reader = new BerReader(waiting)
      if (reader.readSequence() === null || reader.remain < reader.length) return
      const end = reader.offset + reader.length
      const text = waiting.toString('utf8', 0, end)
      waiting = waiting.subarray(end)
      const id = reader.readInt() ?? 0
      operate(id, reader.readSequence() ?? 0, reader, text)
    }
  }

  function operate(id: number, operation: number, reader: BerReader, text: string): void {
    if (operation === 0x60) bind(id, reader)
    if (operation === 0x63) search(id, reader.readString() ?? '', text)
    if (operation === 0x77) startTls(id)
  }

  function bind(id: number, reader: BerReader): void {
    reader.readInt()
    const name = reader.readString() ?? ''
    const password = reader.readString(0x80) ?? ''
    operations.push({ kind: 'bind', name, secure, boundAs })
    const code = options.bind?.(name, password)
    if (code === undefined) return
    boundAs = code === 0 ? name : ''
    socket.write(result(id, 0x61, code, code === 0 ? '' : options.refusal))
  }

  function search(id: number, base: string, text: string): void {
    operations.push({ kind: 'search', name: base, secure, boundAs })
    options.onSearch?.(socket, id)
    const entries = options.search?.(base, text)
    if (entries === undefined) return
    for (const entry of entries) socket.write(entryMessage(id, entry))
    socket.write(result(id, 0x65, 0))
  }

  function startTls(id: number): void {
    socket.off('data', read)
    socket.write(Buffer.concat([result(id, 0x78, 0), options.injected ?? Buffer.alloc(0)]))
    if (options.silentTls || options.tls === undefined) return
    const protectedSocket = new TLSSocket(socket, { isServer: true, ...options.tls })
    speak(protectedSocket, options, operations, true)
  }
}

/** The end of an operation. */
export function result(id: number, operation: number, code: number, text = ''): Buffer {
  return message(id, operation, (writer) => {
    writer.writeEnumeration(code)
    writer.writeString('')
    writer.writeString(text)
  })
}

function entryMessage(id: number, { dn, attributes }: FakeEntry): Buffer {
  return message(id, 0x64, (writer) => {
    writer.writeString(dn)
    writer.startSequence()
    for (const [name, values] of Object.entries(attributes)) {
      writer.startSequence()
      writer.writeString(name)
      writer.startSequence(0x31)
      for (const value of values) writer.writeBuffer(Buffer.from(value), 0x04)
      writer.endSequence()
      writer.endSequence()
    }
    writer.endSequence()
  })
}

function message(id: number, operation: number, write: (writer: BerWriter) => void): Buffer {
  const writer = new BerWriter()
  writer.startSequence()
  writer.writeInt(id)
  writer.startSequence(operation)
  write(writer)
  writer.endSequence()
  writer.endSequence()
  return writer.buffer
}
