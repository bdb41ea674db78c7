import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createCertificates } from '../../test/support/certificates.ts'
import { freePort } from '../../test/support/redis-server.ts'
import { startServer } from '../run/background.ts'
import { proxyPeers } from '../run/proxy-peers.ts'

async function startUpstream(): Promise<number> {
  const server = createServer((incoming, reply) => reply.end(`here is ${incoming.url}`))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const port = await freePort()
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening))
  return port
}

function getOverTls(port: number, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path: '/over-tls', ca, agent: false }
    request(options, async (answer) => resolve((await answer.toArray()).join('')))
      .on('error', reject)
      .end()
  })
}

for (const peer of proxyPeers) {
  const why = peer.absent()
  if (why !== undefined) console.warn(`left out: ${peer.title}; ${why}`)
  describe.skipIf(why !== undefined)(`${peer.title} as a peer`, () => {
    test.each([false, true])('forwards what clients send; TLS: %s', async (tls) => {
      const directory = await mkdtemp(join(tmpdir(), 'postern-bench-proxy-'))
      const certificates = await createCertificates('127.0.0.1')
      onTestFinished(async () => {
        await certificates.remove()
        await rm(directory, { recursive: true, force: true, maxRetries: 5 })
      })
      const { certificate, key } = certificates
      const [port, upstreamPort] = [await freePort(), await startUpstream()]
      const launch = await peer.prepare({ port, upstreamPort, directory, tls, certificate, key })
      const server = await startServer({ ...launch, port, output: join(directory, 'output') })
      onTestFinished(() => server.stop())
      await peer.ready?.(port, tls)

      const text = tls
        ? await getOverTls(port, certificates.authorityText)
        : await (await fetch(`http://127.0.0.1:${port}/plain`)).text()

      expect(text).toBe(tls ? 'here is /over-tls' : 'here is /plain')
      expect(peer.version()).toMatch(/^\w+ \d+\.\d+\.\d+/)
    })
  })
}
