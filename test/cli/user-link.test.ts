import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/stores/database/database.ts'
import { createLinkedAccounts } from '../../src/stores/identities/linked-accounts.ts'
import { runCommand } from '../support/run-command.ts'
import { seededDatabase } from '../support/seeded-database.ts'

const secret = 'a secret of the test that is long enough for anybody'
const provider = `login:
  oidc:
    - name: corp
      issuer: https://id.example
      clientId: postern
      clientAuth: none
      redirectUri: https://app.example/api/v1/login/oidc/corp/callback
`
const rules = { create: true, linkByUsername: false, syncRole: false }

describe('postern user link', () => {
  let directory: string
  let gateway: Database

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'postern-link-'))
    const { database, settings } = await seededDatabase(directory)
    gateway = database
    await writeFile(
      join(directory, 'postern.yaml'),
      `jwt: { secret: ${secret} }\n${settings}${provider}`,
    )
  })
  afterAll(async () => {
    await gateway.close()
    await rm(directory, { recursive: true, force: true })
  })

  const corp = ['--provider', 'corp']

  function user(...args: readonly string[]) {
    const all = ['user', ...args, '--config', 'postern.yaml']
    return runCommand(all, { cwd: directory, stdin: '' })
  }

  function signIn(subject: string, username: string) {
    const linked = createLinkedAccounts(gateway, {
      now: () => Date.now() / 1000,
      revokeTokensOf: async () => {},
    })
    const identity = { provider: 'corp', issuer: 'https://id.example', subject, username }
    return linked.signIn({ ...identity, roleKey: 'viewer' }, rules)
  }

  test('lets one person of a provider in, and unlink ends that and their tokens', async () => {
    await expect(signIn('s-1', 'admin')).rejects.toMatchObject({ kind: 'no-account' })

    const linked = await user('link', 'admin', ...corp, '--subject', 's-1', '--output', 'json')
    expect(linked).toMatchObject({
      code: 0,
      err: 'postern: linked user admin to subject "s-1" of provider corp\n',
    })
    expect(JSON.parse(linked.out)).toMatchObject({ done: 'link', issuer: 'https://id.example' })
    expect((await user('show', 'admin')).out).toMatch(/linked to +corp, subject s-1, no login yet/)
    expect((await signIn('s-1', 'whatever')).caller).toMatchObject({ username: 'admin' })
    expect((await user('show', 'admin')).out).toMatch(/subject s-1, last login about 2/)

    const unlinked = await user('unlink', 'admin', '--provider', 'corp')
    expect(unlinked).toMatchObject({
      code: 0,
      err: 'postern: removed the link to corp of user admin; revoked all tokens issued until now\n',
    })
    const { rows } = await sql`select name from postern_revocation where name = 'u:1'`.execute(
      gateway.db,
    )
    expect(rows).toHaveLength(1)
    await expect(signIn('s-1', 'admin')).rejects.toMatchObject({ kind: 'no-account' })
    const audited = await sql<{ action: string; before: string; after: string }>`
      select action, "before", after from postern_audit where action like 'user.%link'
      order by id`.execute(gateway.db)
    const identity = '{"provider":"corp","issuer":"https://id.example","subject":"s-1"}'
    expect(audited.rows).toEqual([
      { action: 'user.link', before: null, after: identity },
      { action: 'user.unlink', before: identity, after: null },
    ])
  })

  test('takes the issuer from the settings, unless another one is given', async () => {
    await user('link', 'editor', ...corp, '--issuer', 'https://old.example', '--subject', 's-9')

    await expect(signIn('s-9', 'editor')).rejects.toMatchObject({ kind: 'no-account' })
    const { out } = await user('show', 'editor', '--output', 'json')
    expect(JSON.parse(out).links).toMatchObject([{ issuer: 'https://old.example', seenAt: null }])
    await user('unlink', 'editor')
  })

  test('moves no person from one account to another in silence', async () => {
    await user('link', 'admin', ...corp, '--subject', 's-2')

    expect(await user('link', 'editor', ...corp, '--subject', 's-2')).toMatchObject({
      code: 1,
      err: 'postern: subject "s-2" of provider corp is linked to user admin: to move it, run "postern user unlink admin --provider corp" first\n',
    })
    expect(await user('link', 'admin', ...corp, '--subject', 's-2')).toMatchObject({
      code: 1,
      err: 'postern: user admin is already linked to subject "s-2" of provider corp\n',
    })
    expect((await user('unlink', 'admin', '--provider', 'crop')).err).toBe(
      'postern: user admin has no link to "crop" (linked: corp); did you mean corp?\n',
    )
    expect((await user('unlink', 'editor')).err).toBe('postern: user editor has no link\n')
  })

  test.each([
    [['link', 'admn', ...corp, '--subject', 's'], 1, 'did you mean admin?'],
    [['unlink', 'nobody-here'], 1, 'user "nobody-here" does not exist'],
    [['link', 'admin', '--provider', 'crop', '--subject', 's'], 1, 'did you mean corp?'],
    [['link', 'admin', ...corp, '--subject', ''], 2, '--subject needs a value'],
    [['link', 'admin', ...corp, '--subject', 'x'.repeat(256)], 2, '1 to 255 characters'],
    [['link', 'admin', ...corp], 2, "give the person's ID at the provider"],
  ])('says what to do: %j', async (args, code, text) => {
    const found = await user(...args)

    expect(found.code).toBe(code)
    expect(found.err).toContain(text)
  })

  test('an account without a password is shown so, and passwd says that it gets one', async () => {
    await signIn('s-3', 'ann')

    expect((await user('show', 'ann')).out).toMatch(/password +none here/)
    expect((await user('unlink', 'ann')).err).toContain(
      'postern: user ann has no password; to set one, run "postern user passwd ann"\n',
    )
    expect((await user('passwd', 'ann')).err).toContain(
      'set a password for user ann, who had none: they can now log in with it too',
    )
    expect((await user('show', 'ann')).out).not.toMatch(/^password/m)
  })
})
