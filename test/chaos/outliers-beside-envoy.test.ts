import { get } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startProxy } from '../support/proxy-process.ts'
import {
  ok,
  type RecordingUpstream,
  startRecordingUpstream,
} from '../support/recording-upstream.ts'
import { findProxy } from '../support/services/find-proxy.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

function missing(): string | undefined {
  try {
    findProxy('envoy')
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const why = missing()
if (why !== undefined) console.warn(`left out: outlier detection beside Envoy; ${why}`)

const requests = 400
const pauseMs = 10
/** The same for both, and short, so that a target is ejected and returns several times. */
const numbers = { consecutive: 5, baseEjectionMs: 500, intervalMs: 500, percent: 30, volume: 5 }

type Fault = (socket: Socket, count: number) => void
const answer = (socket: Socket, status = '500 Oops') =>
  void socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`)

const faults: Readonly<Record<string, Fault>> = {
  'answers 500 to everything': (socket) => answer(socket),
  'breaks off every response': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () => socket.destroy())
  },
  'answers 500 to every second request': (socket, count) =>
    count % 2 === 0 ? answer(socket) : void socket.write(ok),
}

interface Targets {
  readonly bad: RecordingUpstream
  readonly good: RecordingUpstream
}

async function startTargets(): Promise<Targets> {
  const [bad, good] = [await startRecordingUpstream(), await startRecordingUpstream()]
  for (const one of [bad, good]) onTestFinished(one.close)
  return { bad, good }
}

async function startOurs({ bad, good }: Targets): Promise<number> {
  const { consecutive, baseEjectionMs, intervalMs, percent, volume } = numbers
  const { publicPort } = await startPostern({
    config: {
      upstreams: {
        backend: {
          targets: [bad.origin, good.origin],
          outlier: {
            consecutive5xx: consecutive,
            consecutiveBroken: consecutive,
            errorShare: { percent, requests: volume, intervalMs },
            baseEjectionMs,
          },
        },
      },
    },
    routes: [{ path: '/', upstream: 'backend', access: 'public', reason: 'a test' }],
  })
  return publicPort
}

/**
 * The same for Envoy. By default it merges the changes of a second before it acts on them, which with
 * ejections as short as these would be most of the time.
 */
const envoyConfig = (targets: readonly RecordingUpstream[]) => `
static_resources:
  listeners:
    - address: { socket_address: { address: 127.0.0.1, port_value: 8088 } }
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: in
                route_config:
                  virtual_hosts:
                    - { name: all, domains: ["*"], routes: [{ match: { prefix: / }, route: { cluster: backend } }] }
                http_filters:
                  - name: envoy.filters.http.router
                    typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
  clusters:
    - name: backend
      type: STATIC
      lb_policy: ROUND_ROBIN
      common_lb_config: { healthy_panic_threshold: { value: 0 }, update_merge_window: 0s }
      outlier_detection:
        consecutive_5xx: ${numbers.consecutive}
        interval: ${numbers.intervalMs / 1000}s
        base_ejection_time: ${numbers.baseEjectionMs / 1000}s
        max_ejection_percent: 50
        failure_percentage_threshold: ${numbers.percent}
        failure_percentage_request_volume: ${numbers.volume}
        failure_percentage_minimum_hosts: 2
        enforcing_failure_percentage: 100
      load_assignment:
        cluster_name: backend
        endpoints:
          - lb_endpoints:
${targets
  .map(
    ({ port }) =>
      `              - endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: ${port} } } }`,
  )
  .join('\n')}
`

async function startEnvoy({ bad, good }: Targets): Promise<number> {
  const ports = { postern: 0, asked: 0, backend: 0 }
  return startProxy('envoy', ports, () => envoyConfig([bad, good]))
}

/** Whether a request gets a complete response with the status 200, on a connection of its own. */
function isGood(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const outgoing = get({ port, host: '127.0.0.1', path: '/a', agent: false }, (answer) => {
      answer.on('end', () => resolve(answer.statusCode === 200))
      answer.on('error', () => resolve(false))
      answer.resume()
    })
    outgoing.on('error', () => resolve(false))
  })
}

async function failuresOf(port: number): Promise<number> {
  let failures = 0
  for (let count = 0; count < requests; count++) {
    if (!(await isGood(port))) failures++
    await pause(pauseMs)
  }
  return failures
}

const share = (failures: number) => `${((100 * failures) / requests).toFixed(1)} %`

describe.skipIf(why !== undefined)('of two targets, one that', () => {
  test.each(Object.entries(faults))(
    '%s costs no more requests than behind Envoy',
    async (name, fault) => {
      const [ours, theirs] = await Promise.all(
        [startOurs, startEnvoy].map(async (start) => {
          const targets = await startTargets()
          const port = await start(targets)
          await until(() => isGood(port))
          let count = 0
          targets.bad.answerWith((socket) => fault(socket, ++count))
          return failuresOf(port)
        }),
      )
      console.info(
        `a target that ${name}: ${share(ours ?? 0)} failed, behind Envoy ${share(theirs ?? 0)}`,
      )
      expect(ours).toBeGreaterThan(0)
      expect(ours).toBeLessThanOrEqual((theirs ?? 0) + numbers.consecutive)
      // Without detection: half of the requests, or half of those.
      expect(ours).toBeLessThan(requests * (name.includes('every second') ? 0.2 : 0.1))
    },
  )
})
