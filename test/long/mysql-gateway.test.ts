import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { loneGatewayConfig } from '../support/lone-gateway-config.ts'
import { findMariadb, startMariadb } from '../support/mariadb-server.ts'
import { startRecordingUpstream } from '../support/recording-upstream.ts'
import { runCommand } from '../support/run-command.ts'
import { until } from '../support/until.ts'

if (findMariadb() === undefined) process.stderr.write('MariaDB is not installed: skipped\n')

test.skipIf(findMariadb() === undefined)('a gateway and its commands work on MariaDB', async () => {
  const server = await startMariadb()
  onTestFinished(server.stop)
  await server.query('create database shop')
  const directory = await mkdtemp(join(tmpdir(), 'postern-shop-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const upstream = await startRecordingUpstream()
  onTestFinished(upstream.close)
  const { application, ...base } = loneGatewayConfig(directory, upstream.origin)
  const config = {
    ...{ ...base, application: { ...application, mode: 'dev' } },
    ...{ database: { url: server.urlOf('shop') }, logger: { enableddb: true } },
  }
  const file = join(directory, 'postern.yaml')
  await writeFile(file, stringify(config))
  async function postern(line: string): Promise<string> {
    const { code, out, err } = await runCommand([...line.split(' '), '--config', file])
    if (code !== 0) throw new Error(`${line}: ${err}`)
    return out
  }

  expect(await postern('db migrate')).toContain('sys_user')
  expect(await postern('role list')).toMatch(/^admin /m)
  const { password } = JSON.parse(await postern('user add ann --role admin --output json'))

  const gateway = await startGatewayProcess(file, config)
  onTestFinished(() => gateway.kill())
  const origin = `http://127.0.0.1:${gateway.publicPort}`
  async function logIn(fields: Readonly<Record<string, unknown>>) {
    const answer = await fetch(`${origin}/api/v1/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ uuid: '-', code: '-', ...fields }),
    })
    return (await answer.json()) as { code: number; token?: string }
  }

  const { token = '' } = await logIn({ username: 'ann', password })
  const profile = () =>
    fetch(`${origin}/api/v1/user/profile`, { headers: { Authorization: `Bearer ${token}` } })
  expect(await (await profile()).text()).toContain('"ann"')
  const wrong = [
    { username: 'ann', password: 'wrong' },
    { username: 'ANN', password },
    { username: 'ann ', password },
    // MySQL calls every text that begins with a letter equal to the number 0.
    ...[0, false, true, null, ['ann'], { user_id: 1 }].map((username) => ({
      username,
      password,
    })),
    ...[0, false, { password: 1 }].map((value) => ({ username: 'ann', password: value })),
  ]
  for (const fields of wrong) expect(await logIn(fields)).not.toHaveProperty('token')

  await until(async () => (await postern('session list')).includes('ann'))
  await until(async () => (await postern('login list --output json')).includes('"ANN"'))
  expect(await postern('audit list')).toContain('user.add')
  await postern('user passwd ann')
  await until(async () => /"code":401\b/.test(await (await profile()).text()))
  expect(gateway.log.filter(({ reason }) => String(reason).includes('SQL'))).toEqual([])
})
