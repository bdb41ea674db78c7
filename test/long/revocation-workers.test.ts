import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type CrewProcess, startCrew } from '../support/crew-process.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { testRedis } from '../support/published-policies.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

async function call({ publicPort }: CrewProcess, line: string, token: string) {
  const fields = [`Authorization: Bearer ${token}`, 'Content-Length: 0']
  const { answers } = await sendRaw(publicPort, request(line, fields), { quietMs: 60_000 })
  return answers[0]?.json() as { readonly code?: number; readonly msg?: string } | undefined
}

/** Calls until every worker has refused the token, which none may accept. */
async function refusedByBoth(crew: CrewProcess, token: string): Promise<void> {
  const before = crew.log.length
  await until(async () => {
    expect(await call(crew, 'GET /a', token)).toMatchObject({ code: 401 })
    const refusing = crew.log
      .slice(before)
      .flatMap(({ outcome, worker }) => (outcome === 'token-revoked' ? [worker] : []))
    return new Set(refusing).size === 2
  })
}

test('two workers that start without Redis refuse what either of them revoked before', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'postern-workers-'))
  const [redis, postgres] = await Promise.all([testRedis(), startPostgres()])
  const stores = { redisUrl: redis.url, databaseUrl: postgres.url }
  const config = { revocation: { snapshot: join(directory, 'revocations.snapshot') } }
  onTestFinished(async () => {
    await postgres.stop()
    await rm(directory, { recursive: true, force: true })
  })
  const crew = await startCrew(stores, { config })
  onTestFinished(crew.clear)
  const shared = tokenOf('admin')
  expect(await call(crew, 'POST /api/v1/logout', shared)).toMatchObject({ msg: 'logged out' })
  await refusedByBoth(crew, shared)

  await redis.kill()
  const alone = Array.from({ length: 10 }, () => tokenOf('admin'))
  for (const token of alone) {
    const answer = await call(crew, 'POST /api/v1/logout', token)
    expect(answer?.msg).toContain('logged out here')
  }
  // Killed, not told to end: what was acknowledged is on the disk already.
  const pids = [...(await crew.workerPids()).values()]
  for (const pid of [crew.pid, ...pids]) process.kill(pid, 'SIGKILL')
  await crew.exit
  expect(await readdir(directory)).toEqual(['revocations.snapshot.1', 'revocations.snapshot.2'])

  const again = await startCrew(stores, { config })
  onTestFinished(again.clear)

  for (const token of [shared, ...alone]) await refusedByBoth(again, token)
  expect(again.log.map(({ msg }) => msg)).toContain('started from the revocation snapshot')
})
