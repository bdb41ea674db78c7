import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createCertificates } from '../../test/support/certificates.ts'
import { freePort } from '../../test/support/redis-server.ts'
import { startServer } from '../run/background.ts'
import { goPeers } from '../run/go-peers.ts'
import { nginxPeers } from '../run/nginx-peers.ts'
import { prove } from '../run/proof.ts'
import { startUpstream } from '../run/upstream.ts'

for (const peer of [...nginxPeers, ...goPeers].filter(({ kind }) => kind === 'checked')) {
  const why = peer.absent()
  if (why !== undefined) console.warn(`left out: ${peer.name}; ${why}`)
  describe.skipIf(why !== undefined)(`${peer.name} as a peer`, () => {
    test.each([false, true])('checks token and rules, and says who calls; TLS: %s', async (tls) => {
      const directory = await mkdtemp(join(tmpdir(), 'postern-bench-checked-'))
      const certificates = await createCertificates('127.0.0.1')
      const upstream = await startUpstream(directory)
      onTestFinished(async () => {
        await upstream.stop()
        await certificates.remove()
        await rm(directory, { recursive: true, force: true, maxRetries: 5 })
      })
      const own = join(directory, 'own')
      await mkdir(own)
      const port = await freePort()
      const setting = { port, upstreamPort: upstream.port, directory: own, tls }
      const launch = await peer.prepare({ ...setting, ...certificates })
      const server = await startServer({ ...launch, port, output: join(own, 'output') })
      onTestFinished(() => server.stop())

      await prove(peer, port, tls)

      expect(peer.version()).toMatch(/\d+\.\d+\.\d+/)
    })
  })
}
