import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../support/postgres-server.ts'
import { startReplicas } from '../support/session-replicas.ts'

async function emptyServer() {
  const server = await startPostgres()
  onTestFinished(server.stop)
  const databaseUrl = server.url
  return {
    databaseUrl,
    async run(statement: string) {
      const client = new Client({ connectionString: databaseUrl })
      await client.connect()
      await client.query(statement)
      await client.end()
    },
  }
}

describe('postern db migrate', () => {
  test('makes the tables and the first roles, says so, and has nothing to do after that', async () => {
    const { databaseUrl } = await emptyServer()
    const { postern } = await startReplicas({ databaseUrl, migrate: 'never' })

    const first = await postern('db migrate')
    const again = await postern('db migrate')
    const asJson = await postern('db migrate --output json')

    expect(first).toMatchObject({ code: 0, err: '' })
    expect(first.out.split('\n')).toEqual(
      expect.arrayContaining([
        'created table sys_user',
        'created table sys_role',
        'created role admin',
      ]),
    )
    expect(again).toEqual({ code: 0, out: 'all tables exist and match\n', err: '' })
    expect(JSON.parse(asJson.out)).toEqual({ made: [], roles: [] })
    const audit = JSON.parse((await postern('audit list --output json')).out)
    expect(audit.map(({ subject }: { subject: string }) => subject)).toEqual([
      'viewer',
      'editor',
      'admin',
    ])
    expect(audit[0]).toMatchObject({ action: 'role.add', actor: { kind: 'operator' } })
  })

  test('shows every difference of tables that do not fit, and leaves them', async () => {
    const { databaseUrl, run } = await emptyServer()
    await run('create table sys_user (user_id bigint, username integer)')
    const { postern } = await startReplicas({ databaseUrl })

    const refused = await postern('db migrate')

    expect(refused).toMatchObject({ code: 3, out: '' })
    expect(refused.err).toContain('column username of table sys_user is integer, expected ')
    expect(refused.err).toContain('table sys_user has no column role_id')
  })

  test('says which table it may not create', async () => {
    const { databaseUrl, run } = await emptyServer()
    const owner = await startReplicas({ databaseUrl, migrate: 'never' })
    await owner.postern('db migrate')
    await run('drop table postern_session; create role weak login')
    const weak = await startReplicas({ databaseUrl: databaseUrl.replace('postern@', 'weak@') })

    const denied = await weak.postern('db migrate')

    expect(denied).toMatchObject({ code: 5, out: '' })
    expect(denied.err).toMatch(/^postern: table postern_session is still missing: run this command/)
  })

  test('is named where it may not happen by itself', async () => {
    const { databaseUrl } = await emptyServer()
    const { postern, start } = await startReplicas({ databaseUrl, migrate: 'never' })

    const listed = await postern('user list')

    expect(listed).toMatchObject({ code: 3, out: '' })
    expect(listed.err).toContain('table sys_user is missing: run "postern db migrate"')
    await expect(start()).rejects.toThrow('table sys_user is missing: run "postern db migrate"')
  })
})

describe('the first account of an empty database', () => {
  test('finds roles to choose from', async () => {
    const { databaseUrl } = await emptyServer()
    const { postern } = await startReplicas({ databaseUrl })

    const added = await postern('user add ann --role admin')
    const wrong = await postern('user add bob --role king')

    expect(added.code).toBe(0)
    expect(added.err).toBe(
      'postern: created the initial roles admin, editor, viewer; created user ann with role admin\n',
    )
    expect(wrong.err).toContain('role "king" does not exist (defined: admin, editor, viewer); ')
  })
})
