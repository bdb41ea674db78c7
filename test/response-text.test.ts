import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { readText } from '../src/kernel/response-text.ts'

async function textOf(sent: string, maxBytes: number): Promise<string> {
  const server = createServer((_, response) => response.end(sent)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const request = get({ port, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  for (const each of [request, response]) each.on('error', reject)
  readText(response, maxBytes, resolve)
  return promise
}

test('the text of a response arrives when it has ended, if it is not too long', async () => {
  expect(await textOf('é'.repeat(50_000), 100_000)).toBe('é'.repeat(50_000))
  await expect(textOf('é'.repeat(50_000), 99_999)).rejects.toThrow('the answer is too long')
})
