import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startConsole } from '../support/start-console.ts'
import { until } from '../support/until.ts'

async function open(port: number, text: string): Promise<Socket & { text(): string }> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  let said = ''
  socket.on('data', (chunk) => {
    said += chunk
  })
  return Object.assign(socket, { text: () => said })
}

test('slow clients lose their connections, and others are served meanwhile', async () => {
  const target = await startConsole()
  const cookie = await target.logIn()
  const head = 'POST /console/api/v1/login HTTP/1.1\r\nHost: localhost\r\n'
  const typed = `${head}Content-Type: application/json\r\n`
  const slow = {
    headers: await open(target.port, `${head}X-Slow: `),
    body: await open(target.port, `${typed}Content-Length: 1000\r\n\r\n{"username":`),
    chunks: await open(target.port, `${typed}Transfer-Encoding: chunked\r\n\r\n5\r\n{"use`),
    nothing: await open(target.port, ''),
  }
  // A byte now and then must not keep them.
  const drip = setInterval(() => {
    for (const socket of [slow.headers, slow.body]) if (!socket.destroyed) socket.write('a')
  }, 1000)
  onTestFinished(() => clearInterval(drip))

  expect((await target.call('GET session', { cookie })).status).toBe(200)
  for (const [name, socket] of Object.entries(slow)) {
    await until(() => socket.destroyed || socket.readableEnded)
    expect([name, socket.text()]).toEqual([name, expect.not.stringContaining('HTTP/1.1 200')])
  }
  expect((await target.call('GET session', { cookie })).status).toBe(200)
})
