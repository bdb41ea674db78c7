import { chmod } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createConnection } from 'mysql2/promise'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createCertificates } from '../support/certificates.ts'
import { postLogin } from '../support/log-in.ts'
import { findMariadb, type MariadbServer, startMariadb } from '../support/mariadb-server.ts'
import { startReplicas, tokenFrom, verdictOn } from '../support/session-replicas.ts'
import type { TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

if (findMariadb() === undefined) process.stderr.write('MariaDB is not installed: skipped\n')

async function serverWith(...options: readonly string[]): Promise<MariadbServer> {
  const server = await startMariadb(options)
  onTestFinished(server.stop)
  await server.query('create database shop')
  return server
}

async function logIn(gateway: TestPostern, username: string, password: string) {
  const answer = await postLogin(gateway, { username, password, uuid: '-', code: '-' })
  const { code, token } = answer.json() as { code: number; token?: string }
  return { status: answer.status, code, token }
}

describe.skipIf(findMariadb() === undefined)('MariaDB', () => {
  test('is used over TLS, and only with the certificate of its name', async () => {
    const certificates = await createCertificates()
    const others = await createCertificates()
    onTestFinished(certificates.remove)
    onTestFinished(others.remove)
    // The server runs as another user.
    await chmod(dirname(certificates.key), 0o755)
    const asOptions = ({ certificate, key }: { certificate: string; key: string }) =>
      chmod(key, 0o644).then(() => [`--ssl-cert=${certificate}`, `--ssl-key=${key}`])
    const server = await serverWith(
      ...(await asOptions(certificates)),
      ...[`--ssl-ca=${certificates.authority}`, '--require-secure-transport=on'],
    )
    await server.query(`create user app@'%' identified by 'p@ss word'`)
    await server.query(`grant all on shop.* to app@'%'`)
    const urlOf = (host: string, parameters: string) =>
      `mysql://app:p%40ss%20word@${host}:${server.port}/shop${parameters}`
    const verified = `?sslmode=verify-full&sslrootcert=${certificates.authority}`

    const replicas = await startReplicas({ databaseUrl: urlOf('localhost', verified) })
    const user = await replicas.addUser()
    const gateway = await replicas.start()
    expect(await verdictOn(gateway, await tokenFrom(gateway, user))).toBe('live')

    const refused = async (databaseUrl: string) => {
      const { postern } = await startReplicas({ databaseUrl })
      const { code, out, err } = await postern('user list')
      expect([code, out]).toEqual([5, ''])
      expect(err).not.toMatch(/p@ss|p%40ss/)
      return err
    }
    expect(await refused(urlOf('localhost', ''))).toMatch(/denied|insecure/i)
    const wrong = verified.replace(certificates.authority, others.authority)
    expect(await refused(urlOf('localhost', wrong))).toMatch(/certificate|self.signed/i)

    await server.kill()
    const stranger = await certificates.issue('db.example')
    const another = await serverWith(
      ...(await asOptions(stranger)),
      `--ssl-ca=${certificates.authority}`,
    )
    await another.query(`create user app@'%' identified by 'p@ss word'`)
    const there = urlOf('localhost', verified).replace(String(server.port), String(another.port))
    expect(await refused(there)).toMatch(/localhost|altnames|certificate/i)
  })

  test('that restarts during logins never causes a wrong reply, and is used again', async () => {
    const server = await serverWith()
    const replicas = await startReplicas({
      ...{ databaseUrl: server.urlOf('shop'), statementTimeoutMs: 1000 },
    })
    const user = await replicas.addUser()
    const gateway = await replicas.start()
    const revoked = await tokenFrom(gateway, user)
    await gateway.call('POST /api/v1/logout', { token: revoked })
    await until(async () => (await verdictOn(gateway, revoked)) === 'over')

    const seen = { right: new Set<string>(), wrong: new Set<string>(), revoked: new Set<string>() }
    let isOver = false
    let turns = 0
    async function traffic(): Promise<void> {
      while (!isOver) {
        const right = await logIn(gateway, user.name, user.password)
        seen.right.add(`${right.status} ${right.token === undefined ? right.code : 'token'}`)
        const wrong = await logIn(gateway, `stranger-${turns++}`, user.password)
        seen.wrong.add(`${wrong.status} ${wrong.token === undefined ? wrong.code : 'token'}`)
        seen.revoked.add(await verdictOn(gateway, revoked))
        await pause(20)
      }
    }
    const running = [traffic(), traffic()]
    const isSeen = (outcome: string) => until(() => seen.right.has(outcome))
    await isSeen('200 token')
    await server.kill()
    await isSeen('503 503')
    await server.start()
    seen.right.clear()
    await isSeen('200 token')
    isOver = true
    await Promise.all(running)

    expect([...seen.right].filter((outcome) => !/^(?:200 token|503 503)$/.test(outcome))).toEqual(
      [],
    )
    expect([...seen.wrong].filter((outcome) => outcome.includes('token'))).toEqual([])
    expect([...seen.revoked]).toEqual(['over'])
    expect(gateway.logText()).not.toContain('"outcome":"bug"')
  })

  test('whose connections are all busy is 503 to logins, and delays nothing else', async () => {
    const server = await serverWith()
    const replicas = await startReplicas({
      ...{ databaseUrl: server.urlOf('shop'), statementTimeoutMs: 600 },
    })
    const user = await replicas.addUser()
    const gateway = await replicas.start()
    expect(await logIn(gateway, user.name, user.password)).toMatchObject({ code: 200 })
    const link = await createConnection({ uri: server.urlOf('shop') })
    onTestFinished(() => link.destroy())
    await link.query('lock tables sys_user write')

    // More than connections; different names, because attempts of one account wait for each other.
    const names = Array.from({ length: 25 }, (_, at) => `stranger-${at}`)
    const logins = Promise.all(names.map((name) => logIn(gateway, name, 'a password')))
    const calls = await Promise.all(
      names.map(() => gateway.call('GET /api/v1/public/a', { as: 'editor' })),
    )
    expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set((await logins).map(({ status }) => status))).toEqual(new Set([503]))

    await link.query('unlock tables')
    await until(async () => (await logIn(gateway, user.name, user.password)).code === 200)
  })
})
