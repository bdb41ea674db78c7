import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { onTestFinished } from 'vitest'
import type { RequestFields } from '../../src/h2/message-fields.ts'
import { Session } from '../../src/h2/session.ts'
import type { Stream, StreamEvents } from '../../src/h2/stream.ts'

/** A server of bare sessions, without TLS. Returns its port. Closed with its test. */
export async function startSessionServer(
  request: (stream: Stream, fields: RequestFields) => StreamEvents,
): Promise<number> {
  const server = createServer((socket) => {
    const session = new Session(
      'server',
      { write: (bytes) => socket.destroyed || socket.write(bytes) },
      {
        maxStreams: 100,
        streamWindow: 65_536,
        connectionWindow: 131_072,
        headerBytes: 16_384,
        headerCount: 100,
      },
      {
        request,
        rejected() {},
        idle() {},
        goaway() {},
        settings() {},
        ended: () => socket.end(),
      },
    )
    socket.on('data', (chunk) => session.receive(chunk))
    socket.on('drain', () => session.drained())
    socket.on('close', () => session.disconnected('closed'))
    socket.on('error', () => {})
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}
