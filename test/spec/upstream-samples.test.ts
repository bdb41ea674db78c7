import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { mountKeys, newKey, signedBy } from '../support/keys.ts'
import { freePort } from '../support/redis-server.ts'
import { startPostern } from '../support/start-postern.ts'
import { claimsOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })

test('the TypeScript sample believes the gateway, and nobody who reaches it directly', async () => {
  const key = newKey()
  const { directory } = await mountKeys({ 'a.pem': key.privatePem })
  const port = await freePort()
  const postern = await startPostern({
    config: {
      jwt: { secret: undefined, keyDirectory: directory },
      identity: { assertion: { enabled: true } },
      upstreams: { orders: { targets: [`http://127.0.0.1:${port}`] } },
    },
    routes: [{ path: '/', upstream: 'orders' }],
  })
  const sample = spawn(process.execPath, ['samples/upstreams/typescript/main.ts'], {
    env: {
      ...process.env,
      PORT: String(port),
      JWKS_URL: `http://127.0.0.1:${postern.opsPort}/.well-known/jwks.json`,
    },
    stdio: 'ignore',
  })
  onTestFinished(() => void sample.kill())
  await until(() => isListening(port))
  const token = signedBy(key, { kid: 'a' }, claimsOf('editor', { nice: 'Bjørn 50% +1' }))
  const direct = (assertion: string) =>
    fetch(`http://127.0.0.1:${port}/`, {
      headers: { 'X-User-Id': '1', 'X-Postern-Assertion': assertion },
    })

  const through = await postern.call('GET /api/v1/public/a', { token })
  const without = await direct('')
  const login = await direct(token)

  const caller = { userId: '42', roleKey: 'editor', roleId: '7', dataScope: '3' }
  const named = { ...caller, name: 'Bjørn 50% +1' }
  expect(through.json()).toEqual({ asserted: named, headers: named })
  expect([without.status, login.status]).toEqual([401, 401])
})
