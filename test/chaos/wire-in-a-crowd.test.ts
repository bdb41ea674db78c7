import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { gatherCrowd } from '../support/crowd.ts'
import { send, startPool } from '../support/wire-call.ts'
import { startWireServer } from '../support/wire-server.ts'

/*
 * Every test of the pool once more, with so much else under way that what is sent waits for the end
 * of the turn. Each test file has modules of its own: no other one sees this crowd.
 */
gatherCrowd()

await import('../wire/pool.test.ts')
await import('../wire/pool-tls.test.ts')
await import('../wire/pool-upgrade.test.ts')
await import('../wire/pool-upload.test.ts')
await import('../wire/pool-waits.test.ts')

test('what came before its request had left is not its answer', async () => {
  const answer = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n${body}`
  const server = await startWireServer(({ socket }) => socket.write(answer('good')))
  const pool = startPool(server.origin)
  await send(pool).over
  // From a timer, sockets are read before the turn ends.
  await pause(1)

  server.sockets[0]?.write(answer('evil'))
  const call = await send(pool, { path: '/next' }).over

  expect(call.error()).toMatchObject({ code: 'closed', heard: false })
  expect(server.received(0)).not.toContain('/next')
})
