import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { until } from './until.ts'

/** A client on a bare socket that stays, and what it has got so far. */
export interface OpenClient {
  readonly socket: Socket
  text(): string
  closed(): boolean
  /** What ended it, when that was not an orderly close. */
  error(): string | undefined
  /** Waits until this has come. */
  got(text: string): Promise<void>
}

/** Sends these bytes and stays. Gone when the test ends. */
export async function openClient(port: number, bytes: string): Promise<OpenClient> {
  const socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  const chunks: Buffer[] = []
  let closed = false
  let error: string | undefined
  const text = () => Buffer.concat(chunks).toString('latin1')
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('close', () => {
    closed = true
  })
  socket.on('error', (cause: NodeJS.ErrnoException) => {
    error = cause.code
  })
  await once(socket, 'connect')
  socket.write(bytes, 'latin1')
  return {
    socket,
    text,
    closed: () => closed,
    error: () => error,
    got: (part) => until(() => text().includes(part)),
  }
}
