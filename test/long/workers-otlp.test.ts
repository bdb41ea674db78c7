import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { createCertificates } from '../support/certificates.ts'
import { startCollector } from '../support/collector.ts'
import { startCrew } from '../support/crew-process.ts'
import { startLoneGateway } from '../support/lone-gateway.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'
import { useWorkerStores } from '../support/worker-stores.ts'

const stores = useWorkerStores()

const asAdmin = () => [`Authorization: Bearer ${tokenOf('admin')}`]

test('two workers export every span once, each under an instance of its own', async () => {
  const collector = await startCollector()
  onTestFinished(collector.close)
  const crew = await startCrew(stores(), { config: { tracing: { otlp: collector.origin } } })
  onTestFinished(crew.clear)

  const calls = Array.from({ length: 60 }, (_, number) => number)
  await Promise.all(
    calls.map(async (number) => {
      const bytes = request(`GET /orders/${number}`, asAdmin())
      const { answers } = await sendRaw(crew.publicPort, bytes, { quietMs: 60_000 })
      expect(answers[0]?.status).toBe(200)
    }),
  )
  await until(() => crew.log.filter(({ msg }) => msg === 'request').length === calls.length)
  const pids = new Set(crew.log.filter(({ msg }) => msg === 'request').map((line) => line['pid']))
  crew.signal('SIGTERM')

  expect(await crew.exit).toBe(0)
  const spans = collector.spans()
  const paths = spans.flatMap(({ attributes }) => attributes['url.path'] ?? [])
  expect(paths.sort()).toEqual(calls.map((number) => `/orders/${number}`).sort())
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(2 * calls.length)
  const instances = new Set(spans.map(({ resource }) => resource['service.instance.id']))
  expect(instances.size).toBe(pids.size)
})

test('an https collector needs a trusted certificate, and the deployment names the service', async () => {
  const certificates = await createCertificates('127.0.0.1')
  onTestFinished(certificates.remove)
  const bodies: string[] = []
  const server = createServer(
    { cert: readFileSync(certificates.certificate), key: readFileSync(certificates.key) },
    async (incoming, response) => {
      bodies.push(gunzipSync(await buffer(incoming)).toString())
      response.end('{}')
    },
  ).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await until(() => server.listening)
  const otlp = `https://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function run(env: Readonly<Record<string, string>>) {
    const { gateway } = await startLoneGateway({ tracing: { otlp } }, { env })
    await sendRaw(gateway.publicPort, request('GET /orders/1', asAdmin()))
    expect(await gateway.stop()).toBe(0)
    return gateway.log
  }

  const log = await run({})
  expect(log.find(({ msg }) => msg === 'span export failed')).toMatchObject({
    reason: expect.stringMatching(/CERT|VERIFY/),
  })
  expect(bodies).toEqual([])

  await run({ NODE_EXTRA_CA_CERTS: certificates.authority, OTEL_SERVICE_NAME: 'orders-sidecar' })
  expect(bodies).toHaveLength(1)
  expect(bodies[0]).toContain('"service.name","value":{"stringValue":"orders-sidecar"}')
})
