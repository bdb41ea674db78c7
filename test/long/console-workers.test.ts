import { expect, onTestFinished, test } from 'vitest'
import { isAlive, startCrew } from '../support/crew-process.ts'
import { runCommand } from '../support/run-command.ts'
import { testSecret, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'
import { useWorkerStores } from '../support/worker-stores.ts'

const stores = useWorkerStores()

test('a gateway of two workers has one console, which sees its decisions and ends with it', async () => {
  const prefix = '{console-workers}:'
  const crew = await startCrew(stores(), {
    config: {
      application: { mode: 'dev' },
      redis: { url: stores().redisUrl, prefix },
      console: { enabled: true, port: 0 },
    },
  })
  onTestFinished(crew.clear)
  const listening = () => crew.log.filter(({ msg }) => msg === 'console listening')
  await until(() => listening().length > 0)
  const api = `${listening()[0]?.['address']}api/v1/`

  const { code, out } = await runCommand(['user', 'add', 'ann', '--role', 'admin'], {
    env: {
      POSTERN_DATABASE__URL: stores().databaseUrl,
      POSTERN_REDIS__URL: stores().redisUrl,
      POSTERN_REDIS__PREFIX: prefix,
      POSTERN_JWT__SECRET: testSecret,
    },
  })
  expect(code).toBe(0)
  const login = await fetch(`${api}login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ann', password: out.trim() }),
  })
  expect(login.status).toBe(200)
  const cookie = login.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''

  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  const stream = await fetch(`${api}live/decisions`, { headers: { cookie }, signal: ending.signal })
  let text = ''
  void (async () => {
    for await (const chunk of stream.body ?? []) text += Buffer.from(chunk).toString()
  })().catch(() => {})
  await until(() => text.includes('"available":true'))
  const workers = await crew.workerPids()
  expect(workers.size).toBe(2)
  const token = tokenOf('editor')
  let turn = 0
  const seen = () => new Set(text.match(/\/marker-\d+/g) ?? []).size
  // New connections, until each worker has had some of them.
  await until(async () => {
    const headers = { authorization: `Bearer ${token}`, connection: 'close' }
    await fetch(`http://127.0.0.1:${crew.publicPort}/marker-${turn++}`, { headers })
    return seen() >= 20
  })

  // One worker dies: the console and its session stay.
  const [[, victim = 0] = []] = workers
  process.kill(victim, 'SIGKILL')
  await until(async () => {
    const now = await crew.workerPids().catch(() => new Map<number, number>())
    return now.size === 2 && ![...now.values()].includes(victim)
  })
  expect((await fetch(`${api}session`, { headers: { cookie } })).status).toBe(200)
  expect(listening().length).toBe(1)
  const pid = Number(listening()[0]?.['pid'])
  await crew.stop()
  expect(isAlive(pid)).toBe(false)
})
