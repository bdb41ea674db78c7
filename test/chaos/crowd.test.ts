import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { testSecret } from '../support/tokens.ts'

const crowd = 900

/** How many the system lets wait, whatever a program asks for; nothing where it does not say. */
function systemAllows(): number {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'))
  } catch {
    return 0
  }
}

const isAllowed = systemAllows() >= crowd
if (!isAllowed) console.log(`left out: net.core.somaxconn is not known to be ${crowd} or more`)

test.skipIf(!isAllowed)(
  'a crowd that comes while the gateway is busy is kept waiting, and nobody is sent away',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'postern-crowd-'))
    const gateway = await startGatewayProcess(join(directory, 'postern.yaml'), {
      application: { host: '127.0.0.1', port: 0, dataDirectory: directory },
      ops: { port: 0 },
      jwt: { secret: testSecret },
      policy: { directory: join(process.cwd(), 'policies') },
      shutdown: { graceMs: 0, idleMs: 0, deadlineMs: 2000 },
    })
    onTestFinished(async () => {
      await gateway.kill()
      await rm(directory, { recursive: true, force: true })
    })

    gateway.signal('SIGSTOP')
    const sockets = Array.from({ length: crowd }, () => connect(gateway.publicPort, '127.0.0.1'))
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
    // Whoever is let go of would connect only after a second or three, if there is room by then.
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    const answers = sockets.map(async (socket) => {
      socket.write('GET /api/v1/none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      const [first] = await once(socket, 'data')
      return String(first).slice(0, 12)
    })
    gateway.signal('SIGCONT')

    expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200']))
  },
)
