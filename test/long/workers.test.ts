import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { version } from '../../src/kernel/version.ts'
import { createCertificates } from '../support/certificates.ts'
import {
  type CrewOptions,
  type CrewProcess,
  isAlive,
  startCrew as startCrewOn,
} from '../support/crew-process.ts'
import { contracts } from '../support/forward-auth.ts'
import { metricOf } from '../support/gateway-metrics.ts'
import { openClient } from '../support/open-client.ts'
import { prefix, publish } from '../support/published-policies.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { ok } from '../support/recording-upstream.ts'
import { freePort } from '../support/redis-server.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'
import { useWorkerStores } from '../support/worker-stores.ts'

const stores = useWorkerStores()

const startCrew = (options: CrewOptions = {}) => startCrewOn(stores(), options)

/** One that ends with the test. */
async function testCrew(options?: CrewOptions): Promise<CrewProcess> {
  const crew = await startCrew(options)
  onTestFinished(crew.clear)
  return crew
}

async function get(port: number, path = '/a', token = tokenOf('admin'), quietMs = 20_000) {
  const bytes = request(`GET ${path}`, [`Authorization: Bearer ${token}`])
  const { answers } = await sendRaw(port, bytes, { quietMs })
  return answers[0]
}

/** Calls until every worker has answered, and returns how many calls that took. */
async function reachBoth({ publicPort, log }: CrewProcess): Promise<number> {
  const before = log.length
  const reached = () =>
    new Set(log.slice(before).flatMap(({ worker, path }) => (path === '/a' ? [worker] : [])))
  let asked = 0
  await until(async () => {
    expect((await get(publicPort))?.status).toBe(200)
    asked++
    return reached().size === 2
  })
  return asked
}

/** Whether two workers listen, this one not among them. */
async function isReplaced(crew: CrewProcess, pid: number): Promise<boolean> {
  const pids = [...(await crew.workerPids()).values()]
  return pids.length === 2 && !pids.includes(pid)
}

/** The workers that logged this outcome. */
function workersWith({ log }: CrewProcess, wanted: string): ReadonlySet<unknown> {
  return new Set(log.flatMap(({ outcome, worker }) => (outcome === wanted ? [worker] : [])))
}

function portIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', () => resolve(true))
  })
}

describe('a gateway of two workers', () => {
  let crew: CrewProcess

  beforeAll(async () => {
    await publish(stores().redisUrl, ['clerk, /a, GET'])
    crew = await startCrew({
      config: {
        // Its number must stay when all workers are replaced at once.
        application: { port: await freePort(), trustedProxies: ['127.0.0.1'] },
        forwardAuth: { enabled: true, port: 0 },
        redis: { prefix },
        policy: { source: 'redis' },
        shutdown: { graceMs: 300, deadlineMs: 15_000 },
      },
    })
  })
  afterAll(() => crew.clear())

  const total = () => metricOf(crew.opsPort, 'postern_requests_total')

  test('answers from both, says once that it listens, and counts what both did', async () => {
    const asked = await reachBoth(crew)

    await until(async () => (await total()) === asked)
    expect(await metricOf(crew.opsPort, 'postern_request_duration_seconds_count')).toBe(asked)
    expect(await metricOf(crew.opsPort, 'postern_workers{state="listening"}')).toBe(2)
    const lines = crew.log.filter(({ msg }) => msg === 'listening')
    expect(lines).toMatchObject([{ workers: 2, port: crew.publicPort, pid: crew.pid }])
    const pids = new Set(crew.log.filter(({ path }) => path === '/a').map(({ pid }) => pid))
    expect(pids).toEqual(new Set((await crew.workerPids()).values()))
  })

  test('answers proxies that ask, from both', async () => {
    const line = crew.log.find(({ msg }) => msg === 'listening')
    const { line: asking, headers } = contracts.nginx('GET', '/asked')
    const question = request(asking, [`Authorization: Bearer ${tokenOf('admin')}`, ...headers])
    const workers = () =>
      new Set(crew.log.flatMap(({ path, worker }) => (path === '/asked' ? [worker] : [])))

    await until(async () => {
      const { answers } = await sendRaw(Number(line?.['forwardAuthPort']), question)
      expect(answers[0]?.status).toBe(200)
      return workers().size === 2
    })
  })

  test('says at /readyz?verbose how each of them is, and at /version what it is', async () => {
    const ask = async (path: string) =>
      (await fetch(`http://127.0.0.1:${crew.opsPort}${path}`)).json()
    const pids = await crew.workerPids()
    const inFull = (worker: number) => ({
      worker,
      pid: pids.get(worker),
      state: 'listening',
      ready: true,
      revision: expect.stringMatching(/^r-/),
      problems: [],
      policy: expect.objectContaining({ stale: false, source: 'redis' }),
      keys: expect.any(Object),
      serviceTokens: { enabled: false, maxLifetime: 31_536_000 },
      revocation: expect.any(Object),
      loginLog: expect.any(Object),
      clock: expect.toSatisfy(isClock),
    })

    expect(await ask('/readyz?verbose')).toEqual({
      ready: true,
      configuration: expect.objectContaining({ revision: expect.stringMatching(/^c-/) }),
      revision: expect.stringMatching(/^r-/),
      problems: [],
      workers: [inFull(1), inFull(2)],
    })
    expect(await ask('/readyz')).not.toHaveProperty('workers')
    expect(await ask('/version')).toEqual({ version, mode: 'prod', node: process.versions.node })
    expect(await ask('/healthz')).toEqual({ status: 'alive' })
  })

  /** `null` until the first comparison. */
  const isClock = (clock: unknown) =>
    clock === null || (clock as { readonly source: unknown }).source === 'Redis'

  test('takes a new policy to both', async () => {
    const clerk = tokenOf('clerk')
    const allowed = async () => (await get(crew.publicPort, '/a', clerk))?.body.includes('"ok"')
    expect(await allowed()).toBe(true)

    const revision = await publish(stores().redisUrl, ['clerk, /b, GET'])

    await until(async () => {
      const answer = await fetch(`http://127.0.0.1:${crew.opsPort}/readyz`)
      return ((await answer.json()) as { revision: string }).revision === revision
    })
    const refusing = () => workersWith(crew, 'not-permitted')
    await until(async () => {
      expect(await allowed()).toBe(false)
      return refusing().size === 2
    })
  })

  test('refuses in both a token that was ended in one', async () => {
    const token = tokenOf('admin')
    const answer = () => get(crew.publicPort, '/a', token)
    expect((await answer())?.body).toContain('"ok"')

    const fields = [`Authorization: Bearer ${token}`, 'Content-Length: 0']
    const logout = await sendRaw(crew.publicPort, request('POST /api/v1/logout', fields))
    expect(logout.answers[0]?.status).toBe(200)

    const refusing = () => workersWith(crew, 'token-revoked')
    await until(async () => (await answer()) !== undefined && refusing().size === 2)
    for (let call = 0; call < 4; call++)
      expect((await answer())?.json()).toMatchObject({ code: 401 })
  })

  test('replaces one that is killed, answers meanwhile, and no counter goes back', async () => {
    const seen = [await total()]
    const [killed = 0] = (await crew.workerPids()).values()

    process.kill(killed, 'SIGKILL')

    const answers: (number | undefined)[] = []
    await until(async () => {
      answers.push((await get(crew.publicPort, '/a', tokenOf('admin'), 2000))?.status)
      seen.push(await total())
      return isReplaced(crew, killed)
    })
    // The one that is being handed to a worker at the moment of its death is lost.
    expect(answers.filter((status) => status !== 200).length).toBeLessThanOrEqual(1)
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    expect(await metricOf(crew.opsPort, 'postern_worker_restarts_total')).toBe(1)
    const line = crew.log.find(({ msg }) => msg === 'worker exited; starting a replacement')
    expect(line).toMatchObject({ level: 'error', endedPid: killed, signal: 'SIGKILL', inMs: 0 })
    await reachBoth(crew)
  })

  test('lets one that is told to end finish what it does, and replaces it', async () => {
    const { upstream, publicPort } = crew
    const before = upstream.requests.length
    let answer = () => {}
    upstream.answerWith((socket) => {
      answer = () => void socket.write(ok)
    })
    const slow = get(publicPort, '/slow')
    await until(() => upstream.requests.length > before)
    upstream.answerWith((socket) => socket.write(ok))
    const pids = [...(await crew.workerPids()).values()]

    for (const pid of pids) process.kill(pid, 'SIGTERM')
    const isClosing = (own: number) =>
      crew.log.some(({ msg, pid }) => msg === 'shutting down' && pid === own)
    await until(() => pids.every(isClosing))
    expect(pids.some(isAlive)).toBe(true)
    answer()

    expect((await slow)?.status).toBe(200)
    for (const pid of pids) await until(() => isReplaced(crew, pid))
    await reachBoth(crew)
  })

  test('told to end, is not ready, finishes in both what it does, and exits with 0', async () => {
    const { upstream, publicPort, opsPort } = crew
    const answers: (() => void)[] = []
    upstream.answerWith((socket) => void answers.push(() => socket.write(ok)))
    const inFlight = Array.from({ length: 8 }, () => get(publicPort, '/slow'))
    await until(() => answers.length === 8)
    const pids = [...(await crew.workerPids()).values()]

    const ended = crew.stop()
    await until(async () => (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status === 503)
    const ready = await (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).json()
    await until(() => portIsFree(publicPort))
    for (const answer of answers) answer()

    expect(ready).toMatchObject({
      ready: false,
      problems: [
        { name: 'shutdown', problem: 'draining' },
        { name: 'life', problem: 'closing' },
      ],
    })
    const statuses = (await Promise.all(inFlight)).map((answer) => answer?.status)
    expect(statuses).toEqual(Array(8).fill(200))
    expect(await ended).toBe(0)
    expect(pids.filter(isAlive)).toEqual([])
    expect(crew.complaints()).toBe('')
  })
})

describe('a gateway of two workers that is told to end', () => {
  test('by SIGINT to its whole group, ends once and replaces nobody', async () => {
    const crew = await testCrew({ ownGroup: true })

    process.kill(-crew.pid, 'SIGINT')

    expect(await crew.exit).toBe(0)
    const said = crew.log.map(({ msg }) => msg)
    expect(said).not.toContain('worker exited; starting a replacement')
    // The workers, which heard it too, say so for themselves.
    const closing = crew.log.filter(
      ({ msg, worker }) => msg === 'shutting down' && worker === undefined,
    )
    expect(closing).toHaveLength(1)
    expect(crew.complaints()).toBe('')
  })

  test('for a second time, cuts what is open in its workers, and writes that down', async () => {
    const crew = await testCrew({ config: { shutdown: { graceMs: 0, deadlineMs: 60_000 } } })
    crew.upstream.answerWith(() => {})
    const open = get(crew.publicPort, '/hangs')
    await until(() => crew.upstream.requests.length === 1)

    crew.signal('SIGTERM')
    await until(() => crew.log.some(({ msg }) => msg === 'shutting down'))
    await new Promise((resolve) => setTimeout(resolve, 1100))
    crew.signal('SIGTERM')

    expect(await open).toBeUndefined()
    expect(await crew.exit).toBe(1)
    const line = crew.log.find(({ path }) => path === '/hangs')
    expect(line).toMatchObject({ outcome: 'cut-by-gateway', worker: expect.any(Number) })
  })

  test('by an error that nobody caught in one worker, goes on with another in its place', async () => {
    const crew = await testCrew({ preload: 'misbehaves.ts' })
    const [failing = 0] = (await crew.workerPids()).values()

    process.kill(failing, 'SIGUSR2')

    await until(() => isReplaced(crew, failing))
    const fatal = crew.log.find(({ level }) => level === 'fatal')
    expect(fatal).toMatchObject({ pid: failing, err: { type: 'Error' } })
    expect((await get(crew.publicPort))?.status).toBe(200)
  })

  test('by an error that nobody caught in the supervisor, ends with its workers by their deadline', async () => {
    const crew = await testCrew({
      preload: 'misbehaves.ts',
      config: { shutdown: { graceMs: 0, deadlineMs: 60_000, failureDeadlineMs: 2000 } },
    })
    crew.upstream.answerWith(() => {})
    const open = get(crew.publicPort, '/hangs')
    await until(() => crew.upstream.requests.length === 1)
    const pids = [...(await crew.workerPids()).values()]

    crew.signal('SIGUSR2')

    expect(await open).toBeUndefined()
    expect(await crew.exit).toBe(1)
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('kills one that does not end, says so, and ends with exit code 1', async () => {
    const crew = await testCrew({ config: { shutdown: { graceMs: 0, deadlineMs: 100 } } })
    const [stuck = 0] = (await crew.workerPids()).values()
    process.kill(stuck, 'SIGSTOP')
    onTestFinished(() => void (isAlive(stuck) && process.kill(stuck, 'SIGKILL')))

    expect(await crew.stop()).toBe(1)

    expect(JSON.stringify(crew.log)).toContain('did not shut down cleanly: worker 1')
    expect(isAlive(stuck)).toBe(false)
  })
})

describe('two workers without a policy', () => {
  test('are not ready for one and the same reason, and each says so for itself', async () => {
    const { opsPort } = await testCrew({
      config: { redis: { prefix: '{nothing-published}:' }, policy: { source: 'redis' } },
    })

    const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz?verbose`)

    const problems = [{ name: 'policy', problem: expect.stringContaining('no policy is loaded') }]
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({
      ready: false,
      revision: null,
      problems,
      workers: [
        { worker: 1, state: 'listening', ready: false, problems },
        { worker: 2, state: 'listening', ready: false, problems },
      ],
    })
    expect((await fetch(`http://127.0.0.1:${opsPort}/healthz`)).status).toBe(200)
  })
})

describe('what limits the whole gateway', () => {
  test('limits it, and who is beyond is cut off at once', async () => {
    const crew = await testCrew({ config: { limits: { connections: 2 } } })
    const bytes = request('GET /a', [`Authorization: Bearer ${tokenOf('admin')}`])
    const first = await openClient(crew.publicPort, bytes)
    await first.got('"ok"')
    const second = await openClient(crew.publicPort, bytes)
    await second.got('"ok"')

    const third = await openClient(crew.publicPort, bytes)

    await until(() => third.closed())
    expect(third.text()).toBe('')
    expect([first.closed(), second.closed()]).toEqual([false, false])
  })
})

describe('a TLS session that one worker began', () => {
  test('goes on with the other, also after a new certificate', async () => {
    const [old, renewed] = [await createCertificates(), await createCertificates()]
    onTestFinished(async () => void (await Promise.all([old.remove(), renewed.remove()])))
    const tls = { certFile: old.certificate, keyFile: old.key }
    const crew = await testCrew({ config: { tls } })
    const there = { port: crew.publicPort, host: '127.0.0.1', servername: 'localhost' }
    const bytes = request('GET /a', [`Authorization: Bearer ${tokenOf('admin')}`])

    await copyFile(renewed.certificate, old.certificate)
    await copyFile(renewed.key, old.key)
    await until(async () => (await metricOf(crew.opsPort, 'postern_tls_reloads_total')) >= 2)
    let session: Buffer | undefined
    const resumed: boolean[] = []
    for (let call = 0; call < 5; call++) {
      const ca = renewed.authorityText
      const socket = connectTls({ ...there, ca, ...(session && { session }) })
      socket.on('session', (ticket) => {
        session = ticket
      })
      await once(socket, 'secureConnect')
      resumed.push(socket.isSessionReused())
      socket.write(bytes)
      await once(socket, 'data')
      socket.destroy()
    }

    await until(() => workersWith(crew, 'passed').size === 2)
    expect(resumed).toEqual([false, true, true, true, true])
  })
})

describe('workers whose supervisor is killed', () => {
  test('finish what is in flight and end; the port is free', async () => {
    const crew = await testCrew()
    const { upstream, publicPort } = crew
    let answer = () => {}
    upstream.answerWith((socket) => {
      answer = () => void socket.write(ok)
    })
    const bytes = request('GET /slow', [`Authorization: Bearer ${tokenOf('admin')}`])
    const client = await openClient(publicPort, bytes)
    await until(() => upstream.requests.length === 1)
    const pids = [...(await crew.workerPids()).values()]

    await crew.kill()
    await until(() => portIsFree(publicPort))
    answer()

    await client.got('{"ok":true}')
    await until(() => pids.every((pid) => !isAlive(pid)))
  })
})

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0
if (!hasPrlimit) console.log('left out: a supervisor without descriptors; there is no prlimit here')

describe.skipIf(!hasPrlimit)('a supervisor that has no descriptors left', () => {
  const allow = (pid: number, most: number) =>
    spawnSync('prlimit', [`--pid=${pid}`, `--nofile=${most}:`])

  test('goes on with the workers it has, and replaces the other when it has some again', async () => {
    const crew = await testCrew()
    const [first = 0, second = 0] = [...(await crew.workerPids()).values()]
    const used = new Set(readdirSync(`/proc/${crew.pid}/fd`).map(Number))
    const free = Array.from({ length: 1000 }, (_, at) => at).find((at) => !used.has(at)) ?? 0

    allow(crew.pid, free)
    // The one that was to take its place ends before it has begun.
    const failed = crew.logged(
      ({ msg, endedPid }) =>
        msg === 'worker exited; starting a replacement' && endedPid === undefined,
    )
    process.kill(first, 'SIGKILL')
    await failed
    expect(isAlive(second)).toBe(true)
    allow(crew.pid, 1024)

    await until(async () => (await crew.workerPids()).size === 2)
    expect((await get(crew.publicPort))?.status).toBe(200)
  })
})
