import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { Certificates } from './certificates.ts'
import { parseAnswers, type RawAnswer } from './raw-client.ts'
import { until } from './until.ts'

/** A connection on which a test says every byte itself. */
export interface ByteClient {
  readonly socket: Socket
  send(bytes: string): void
  /** Waits for so many answers in all, or the end of the connection, and gives those that came. */
  answers(count: number): Promise<readonly RawAnswer[]>
  text(): string
  closed(): boolean
}

export interface ByteClientOptions {
  /** The loopback address to call from, such as 127.0.0.9. */
  readonly from?: string
  /** Speaks TLS, and trusts these. */
  readonly tls?: Certificates | undefined
}

export async function openByteClient(
  port: number,
  { from = '127.0.0.1', tls }: ByteClientOptions = {},
): Promise<ByteClient> {
  const there = { port, host: '127.0.0.1', localAddress: from }
  const trust = tls && { ca: tls.authorityText, servername: 'localhost' }
  const socket = trust === undefined ? connect(there) : connectTls({ ...there, ...trust })
  onTestFinished(() => void socket.destroy())
  const chunks: Buffer[] = []
  let closed = false
  socket.setNoDelay()
  socket.on('error', () => {})
  socket.on('data', (chunk) => chunks.push(chunk))
  // A gateway that refuses may do so before there is a connection to speak of.
  await new Promise<void>((resolve) => {
    socket.on(tls === undefined ? 'connect' : 'secureConnect', resolve)
    socket.on('close', () => {
      closed = true
      resolve()
    })
  })
  const bytes = () => Buffer.concat(chunks)
  return {
    socket,
    send: (text) => void socket.write(text, 'latin1'),
    async answers(count) {
      let seen = -1
      await until(() => {
        if (closed) return true
        // Parsing all again at each look would take longer than the answers.
        if (seen === chunks.length) return false
        seen = chunks.length
        return parseAnswers(bytes()).length >= count
      })
      return parseAnswers(bytes())
    },
    text: () => bytes().toString('latin1'),
    closed: () => closed,
  }
}
