import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { metricOf } from '../support/gateway-metrics.ts'
import { startLoneGateway } from '../support/lone-gateway.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const get = request('GET /api/v1/articles', [`Authorization: Bearer ${tokenOf('admin')}`])

// Tests may run where nothing but descriptors could be scarce: Linux says which limit a process has.
test('a process with too few descriptors says so, and closes idle connections instead of failing', async () => {
  const { gateway } = await startLoneGateway({}, { openFiles: 256 })
  const warning = gateway.log.find(({ msg }) => String(msg).startsWith('file descriptor limit'))
  expect(warning).toMatchObject({ level: 'warn', limit: 256, connections: 10_000 })

  const idle: Socket[] = []
  onTestFinished(() => idle.forEach((socket) => void socket.destroy()))
  const counted = (name: string) =>
    metricOf(gateway.opsPort, `postern_connections_${name}_total{reason="descriptors"}`)
  for (let at = 0; at < 300; at++) {
    const socket = connect(gateway.publicPort, '127.0.0.1')
    socket.on('error', () => {})
    idle.push(socket)
    await once(socket, 'connect')
  }
  await until(async () => (await counted('rejected')) + (await counted('closed')) > 0)

  for (let at = 0; at < 20; at++) {
    const { answers } = await sendRaw(gateway.publicPort, get, { quietMs: 60_000 })
    // One that comes while all others have just come is refused.
    if (answers.length === 0) at--
    else expect(answers[0]?.status).toBe(200)
  }
  expect(await counted('closed')).toBeGreaterThan(0)
})

test('a process with enough descriptors says nothing', async () => {
  const { gateway } = await startLoneGateway({ limits: { connections: 10 } }, { openFiles: 1024 })

  expect(gateway.log.filter(({ msg }) => String(msg).includes('descriptor'))).toEqual([])
})
