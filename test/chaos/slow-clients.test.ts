import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { callMany } from '../support/callers.ts'
import { startLoneGateway } from '../support/lone-gateway.ts'
import { runNginx } from '../support/nginx.ts'
import { freePort } from '../support/redis-server.ts'
import { leaveUnread, startReadingService, trickleUploads } from '../support/slow-crowd.ts'
import { tokenOf } from '../support/tokens.ts'

const hasNginx = process.env['POSTERN_TEST_NGINX'] !== ''
const headers = { Authorization: `Bearer ${tokenOf('admin')}` }

/** More than a kernel keeps for a client that does not read. */
const largeBytes = 16 * 1_048_576

async function startGateway(): Promise<number> {
  const uploads = await startReadingService(0)
  const downloads = await startReadingService(largeBytes)
  const { gateway } = await startLoneGateway({
    upstreams: {
      uploads: { targets: [uploads.origin] },
      downloads: { targets: [downloads.origin], connections: 32 },
    },
    routes: [
      { path: '/', upstream: 'uploads' },
      { path: '/open', upstream: 'uploads', access: 'public', reason: 'a test' },
      { path: '/files', upstream: 'downloads', access: 'public', reason: 'a test' },
      { path: '/files/a', upstream: 'downloads' },
    ],
  })
  return gateway.publicPort
}

async function startProxy(): Promise<number> {
  const port = await freePort()
  const uploads = await startReadingService(0)
  const downloads = await startReadingService(largeBytes)
  return runNginx(
    `client_max_body_size 100m;
     server {
       listen 127.0.0.1:${port};
       location / { proxy_pass ${uploads.origin}; }
       location /files { proxy_pass ${downloads.origin}; }
     }`,
    port,
  )
}

/** What callers with a token get while others attack, all of them on loopback. */
async function attack(port: number) {
  const uploads = await trickleUploads({ port, path: '/open/a', count: 1000, from: '127.0.0.2' })
  const unread = await leaveUnread({ port, path: '/files/large', count: 40, from: '127.0.0.3' })
  // Until each of them has what it can get.
  await pause(3000)
  const load = { port, headers, callers: 20, requests: 600, pauseMs: [0, 2000] as const }
  const [good, files] = await Promise.all([callMany(load), callMany({ ...load, path: '/files/a' })])
  uploads.stop()
  unread.stop()
  return {
    sent: good.sent,
    failed: { uploads: good.failed, downloads: files.failed },
    reasons: [...good.reasons, ...files.reasons],
    attackers: Object.fromEntries(uploads.statuses),
  }
}

test('1,000 slow uploads and 40 clients that do not read harm no other caller', async () => {
  const ours = await attack(await startGateway())
  const theirs = hasNginx ? await attack(await startProxy()) : 'left out: not installed'
  console.log(`postern ${JSON.stringify(ours)}\nnginx ${JSON.stringify(theirs)}`)

  expect(ours).toMatchObject({
    sent: { GET: 300, POST: 300 },
    failed: { uploads: { GET: 0, POST: 0 }, downloads: { GET: 0, POST: 0 } },
  })
  // Those that go on slowly do not go on forever.
  expect(ours.attackers['408']).toBeGreaterThan(0)
})
