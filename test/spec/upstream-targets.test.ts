import { describe, expect, onTestFinished, test } from 'vitest'
import { createTarget } from '../../src/gateway/upstream/target.ts'
import { askTarget } from '../support/ask-target.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { freePort } from '../support/redis-server.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const get = 'GET /api/v1/public/a'
const post = 'POST /api/v1/articles'

/** A server that does not run, on a port that no other test takes. */
async function unreachable(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`
}

async function startTarget() {
  const upstream = await startRecordingUpstream()
  onTestFinished(upstream.close)
  return upstream
}

function startWith(targets: readonly string[], settings: Readonly<Record<string, unknown>> = {}) {
  return startPostern({ config: { upstreams: { backend: { targets, ...settings } } } })
}

async function statuses(postern: TestPostern, line: string, count: number): Promise<number[]> {
  const found: number[] = []
  for (let turn = 0; turn < count; turn++) {
    found.push((await postern.call(line, { as: 'editor' })).status)
  }
  return found
}

describe('several targets', () => {
  test('are asked in turn', async () => {
    const [one, other] = [await startTarget(), await startTarget()]
    const postern = await startWith([one.origin, other.origin])

    await statuses(postern, get, 10)

    expect([one.requests.length, other.requests.length]).toEqual([5, 5])
  })

  test('get what they have time for, with least-outstanding', async () => {
    const [slow, quick] = [await startTarget(), await startTarget()]
    slow.answerWith(() => {})
    const postern = await startWith([slow.origin, quick.origin], { balance: 'least-outstanding' })
    const waiting = [1, 2].map(() => postern.call(get, { as: 'editor' }))
    await until(() => slow.requests.length > 0)

    expect(await statuses(postern, get, 6)).toEqual([200, 200, 200, 200, 200, 200])
    expect(slow.requests.length).toBeLessThanOrEqual(2)
    slow.answerWith((socket) => socket.write(ok))
    await slow.close()
    await Promise.allSettled(waiting)
  })

  test('stand in for one that is unreachable, and the client does not notice', async () => {
    const well = await startTarget()
    const postern = await startWith([await unreachable(), well.origin])

    expect(await statuses(postern, get, 6)).toEqual([200, 200, 200, 200, 200, 200])
    expect(postern.logText()).toContain('"retries":1')
  })

  test('stand in for one that drops the connection before it has answered', async () => {
    const [rude, well] = [await startTarget(), await startTarget()]
    rude.answerWith((socket) => socket.destroy())
    const postern = await startWith([rude.origin, well.origin])

    expect(await statuses(postern, get, 4)).toEqual([200, 200, 200, 200])
  })

  test('are tried once more when a kept connection was just being closed, also a single one', async () => {
    const target = await startTarget()
    const seen = new Set<unknown>()
    let closed = 0
    target.answerWith((socket) => {
      if (seen.has(socket) && closed++ === 0) socket.destroy()
      else socket.write(ok)
      seen.add(socket)
    })
    const postern = await startWith([target.origin])

    expect(await statuses(postern, get, 6)).toEqual([200, 200, 200, 200, 200, 200])
    expect(closed).toBeGreaterThan(0)
  })

  test('are not tried for ever', async () => {
    const target = await startTarget()
    target.answerWith((socket) => socket.destroy())
    const postern = await startWith([target.origin], { retries: 3 })

    expect(await statuses(postern, get, 1)).toEqual([502])
    expect(target.requests).toHaveLength(4)
  })

  test('do not get a request with a body twice: nobody knows what the first did with it', async () => {
    const [rude, well] = [await startTarget(), await startTarget()]
    rude.answerWith((socket) => socket.destroy())
    const postern = await startWith([rude.origin, well.origin])
    const body = '{"a":1}'

    const answers = [
      await postern.call(post, { as: 'editor', body }),
      await postern.call(post, { as: 'editor', body }),
    ]

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 502])
    expect([rude.requests.length, well.requests.length]).toEqual([1, 1])
  })

  test('do not get a POST twice either when it has no body', async () => {
    const [rude, well] = [await startTarget(), await startTarget()]
    rude.answerWith((socket) => socket.destroy())
    const postern = await startWith([rude.origin, well.origin])

    expect((await statuses(postern, post, 2)).sort()).toEqual([200, 502])
    expect(rude.requests.length + well.requests.length).toBe(2)
  })

  test('do not answer again what another has begun to answer', async () => {
    const [rude, well] = [await startTarget(), await startTarget()]
    rude.answerWith((socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart of it')
    })
    const postern = await startWith([rude.origin, well.origin])

    const answers = await Promise.allSettled(
      [1, 2].map(() => postern.call(get, { as: 'editor' }).then((answer) => answer.json())),
    )

    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect([rude.requests.length, well.requests.length]).toEqual([1, 1])
  })

  test('do not get what another may have seen when retries are turned off', async () => {
    const [rude, well] = [await startTarget(), await startTarget()]
    rude.answerWith((socket) => socket.destroy())
    const postern = await startWith([rude.origin, well.origin], { retries: 0 })

    expect((await statuses(postern, get, 2)).sort()).toEqual([200, 502])
  })

  test.each([get, post])(
    'get what one that refuses connections cannot have seen, also then: %s',
    async (line) => {
      const well = await startTarget()
      const postern = await startWith([await unreachable(), well.origin], { retries: 0 })

      expect(await statuses(postern, line, 4)).toEqual([200, 200, 200, 200])
    },
  )

  test('get the whole body of a request that another refused', async () => {
    const well = await startTarget()
    const postern = await startWith([await unreachable(), well.origin])
    const bodies = ['{"a":1}', '{"a":2}', 'x'.repeat(300_000)]

    for (const body of bodies) {
      expect((await postern.call(post, { as: 'editor', body })).status).toBe(200)
    }
    expect(well.requests.map(({ body }) => body)).toEqual(bodies)
  })
})

describe('a target that fails again and again', () => {
  const breaker = { failures: 2 }

  test('is left alone after so many failures while another one serves', async () => {
    const [rude, well] = [await startTarget(), await startTarget()]
    rude.answerWith((socket) => socket.destroy())
    const outlier = { consecutiveBroken: 2 }
    const postern = await startWith([rude.origin, well.origin], { breaker, outlier, retries: 0 })

    await statuses(postern, get, 20)

    expect([rude.requests.length, well.requests.length]).toEqual([2, 18])
  })

  test('gets all requests when it is the only one that accepts connections', async () => {
    const rude = await startTarget()
    rude.answerWith((socket) => socket.destroy())
    const postern = await startWith([rude.origin], { breaker, retries: 0 })

    expect(await statuses(postern, get, 4)).toEqual([502, 502, 502, 502])
    expect(rude.requests).toHaveLength(4)
  })

  test('to connect is not asked: 503 at once, with what it failed with', async () => {
    const [one, other] = [await unreachable(), await unreachable()]
    const postern = await startWith([one, other], { breaker, retries: 0 })

    await until(async () => (await statuses(postern, get, 1))[0] === 503)

    expect(postern.logText()).toContain('"outcome":"upstream-failing"')
    expect(postern.logText()).toContain(
      `"reason":"no target accepts connections: ${one}: connect ECONNREFUSED ${one.slice(7)}; ${other}: connect ECONNREFUSED ${other.slice(7)}"`,
    )
  })

  test('is not blamed for a client that sends too much', async () => {
    const target = await startTarget()
    target.answerWith(() => {})
    const postern = await startPostern({
      config: {
        upstreams: { backend: { targets: [target.origin], breaker, retries: 0 } },
        limits: { bodyBytes: 10 },
      },
    })
    const chunked = {
      headers: ['Transfer-Encoding: chunked'],
      body: '14\r\n01234567890123456789\r\n',
    }
    for (let turn = 0; turn < 3; turn++) {
      await postern.call(post, { as: 'editor', ...chunked }).catch(() => {})
    }
    target.answerWith((socket) => socket.write(ok))

    expect(await statuses(postern, get, 1)).toEqual([200])
  })

  test('does not slow down another upstream', async () => {
    const [rude, well] = [await startTarget(), await startTarget()]
    rude.answerWith(() => {})
    const postern = await startPostern({
      rules: ['editor, /slow/*, GET', 'editor, /quick/*, GET'],
      config: {
        upstreams: {
          slow: { targets: [rude.origin], connections: 1, queueTimeoutMs: 60_000 },
          quick: { targets: [well.origin] },
        },
      },
      routes: [
        { path: '/slow', upstream: 'slow' },
        { path: '/quick', upstream: 'quick' },
      ],
    })
    const stuck = Array.from({ length: 5 }, () => postern.call('GET /slow/a', { as: 'editor' }))
    await until(() => rude.requests.length === 1)

    expect(await statuses(postern, 'GET /quick/a', 5)).toEqual([200, 200, 200, 200, 200])
    await rude.close()
    await Promise.allSettled(stuck)
  })
})

test('the figures show which target is left alone, and what was sent again', async () => {
  const well = await startTarget()
  const away = await unreachable()
  const postern = await startWith([away, well.origin], {
    breaker: { failures: 1 },
  })
  await statuses(postern, get, 4)

  const text = await (await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)).text()
  expect(text).toContain(`postern_circuit_state{upstream="backend",target="${away}"} 2`)
  expect(text).toContain(`postern_circuit_state{upstream="backend",target="${well.origin}"} 0`)
  expect(text).toContain(`postern_upstream_up{upstream="backend",target="${well.origin}"} 1`)
  expect(text).toContain('postern_upstream_retries_total{upstream="backend"} 1')
})

describe('a health check', () => {
  const healthCheck = { path: '/healthz', intervalMs: 100, unhealthyAfter: 2, healthyAfter: 1 }

  function answering(status: () => string) {
    return (socket: { write(text: string): void }, { target }: { readonly target: string }) => {
      if (target !== '/healthz') socket.write(ok)
      else socket.write(`HTTP/1.1 ${status()}\r\nContent-Length: 0\r\n\r\n`)
    }
  }

  test('takes a target out and brings it back', async () => {
    const [ill, well] = [await startTarget(), await startTarget()]
    let status = '503 Service Unavailable'
    ill.answerWith(answering(() => status))
    well.answerWith(answering(() => '204 No Content'))
    const asked = () => ill.requests.filter(({ target }) => target !== '/healthz').length
    const postern = await startWith([ill.origin, well.origin], { healthCheck })

    await until(async () => {
      const before = asked()
      await statuses(postern, get, 4)
      return asked() === before
    })
    status = '200 OK'
    await until(async () => {
      const before = asked()
      await statuses(postern, get, 4)
      return asked() === before + 2
    })
  })

  test('is not believed about the last one that is reachable', async () => {
    const [away, ill] = [await unreachable(), await startTarget()]
    ill.answerWith(answering(() => '503 Service Unavailable'))
    const postern = await startWith([away, ill.origin], {
      healthCheck: { ...healthCheck, unhealthyAfter: 1 },
      breaker: { failures: 2 },
    })
    await until(() => ill.requests.length > 3)

    expect(await statuses(postern, get, 9)).toEqual(Array.from({ length: 9 }, () => 200))
  })

  /** One bad answer is enough, and no good one makes up for it. */
  const strict = { ...healthCheck, unhealthyAfter: 1, healthyAfter: 100, timeoutMs: 1000 }
  const isUp = async ({ opsPort }: TestPostern, origin: string) => {
    const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
    return text.includes(`postern_upstream_up{upstream="backend",target="${origin}"} 1`)
  }

  test('is not failed by a connection that the target closes after a request', async () => {
    const [target, used] = [await startTarget(), new Set<unknown>()]
    target.answerWith((socket) => {
      if (used.has(socket)) socket.destroy()
      else socket.write(ok)
      used.add(socket)
    })
    const postern = await startWith([target.origin], { healthCheck: strict })
    await until(() => used.size > 4)

    expect(await isUp(postern, target.origin)).toBe(true)
  })

  test('is not failed by requests that use all connections', async () => {
    const target = await startTarget()
    let checks = 0
    target.answerWith((socket, { target: path }) => {
      if (path === '/healthz') socket.write(ok)
      checks += path === '/healthz' ? 1 : 0
    })
    const postern = await startWith([target.origin], { healthCheck: strict, connections: 1 })
    const stuck = postern.call(get, { as: 'editor' }).catch(() => {})
    await until(() => target.requests.length > checks)
    const before = checks
    await until(() => checks > before + 2)

    expect(await isUp(postern, target.origin)).toBe(true)
    await target.close()
    await stuck
  })

  test('that calls every target ill is not believed', async () => {
    const target = await startTarget()
    target.answerWith(answering(() => '500 Internal Server Error'))
    const postern = await startWith([target.origin], { healthCheck })
    await until(() => target.requests.length > 4)

    expect(await statuses(postern, get, 2)).toEqual([200, 200])
  })
})

test('a target at a fixed address keeps the name of its service in Host', async () => {
  const upstream = await startTarget()
  const target = createTarget(`http://orders.invalid:${upstream.port}`, '127.0.0.1', {
    connections: 1,
    connectTimeoutMs: 1000,
    headersTimeoutMs: 1000,
    bodyTimeoutMs: 1000,
  })
  onTestFinished(target.destroy)

  await askTarget(target)

  expect(upstream.requests[0]?.values('host')).toEqual([`orders.invalid:${upstream.port}`])
})
