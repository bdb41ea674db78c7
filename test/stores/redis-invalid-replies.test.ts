import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createConnection } from '../../src/stores/redis/redis-connection.ts'
import { until } from '../support/until.ts'

const opened: { close: () => void }[] = []

afterEach(() => {
  for (const one of opened.splice(0)) one.close()
})

/** Answers `+OK` to every command but those of `replies`. */
async function startServer(replies: Readonly<Record<string, string>>) {
  const sockets: Socket[] = []
  const server: Server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', (data) => {
      for (const [, name = ''] of String(data).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        socket.write(replies[name.toLowerCase()] ?? '+OK\r\n')
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  opened.push({
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
  return { url: `redis://127.0.0.1:${port}`, connections: () => sockets.length }
}

test.each([
  ['a surplus null', 'ping', '+PONG\r\n_\r\n'],
  ['a surplus text', 'ping', '+PONG\r\n+PONG\r\n'],
  ['a surplus error', 'ping', '+PONG\r\n-ERR no\r\n'],
  ['no channel for SUBSCRIBE', 'subscribe', '*-1\r\n'],
  ['an empty list for SUBSCRIBE', 'subscribe', '*0\r\n'],
])('a connection on which Redis sends %s is replaced', async (_, command, reply) => {
  const server = await startServer({ [command]: reply })
  const { driver } = createConnection({
    url: server.url,
    prefix: 'p:',
    connectTimeoutMs: 1000,
    commandTimeoutMs: 1000,
  })
  opened.push({ close: () => driver.disconnect() })
  const errors: Error[] = []
  driver.on('error', (error: Error) => errors.push(error))
  await driver.connect()

  driver.call(command, 'name').catch(() => {})

  await until(() => server.connections() === 2 && driver.status === 'ready')
  expect(errors).not.toEqual([])
  await expect(driver.get('key')).resolves.toBe('OK')
})
