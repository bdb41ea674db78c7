import { describe, expect, test } from 'vitest'
import { calls } from '../../src/operations/offered/offered.ts'
import { remotePostern } from '../support/remote-postern.ts'
import { cookieIn, startConsole, type TestConsole } from '../support/start-console.ts'
import { until } from '../support/until.ts'

/** `secops` publishes without being an administrator. */
const roles = { reader: ['viewer'], author: ['editor'], publisher: ['admin', 'secops'] }

type Body = Readonly<Record<string, string>>

/** An account of the test, with its only session. */
interface Account {
  readonly name: string
  readonly role: string
  readonly userId: string
  readonly sessionId: string
  readonly cookie: string
  readonly password: string
}

interface Row {
  readonly command: string
  readonly body: (account: Account) => Body
}

const confirmed = ({ name }: Account): Body => ({ name, confirm: name })

/** Every operation that touches an account, in an order in which none prevents the next one. */
const rows: readonly Row[] = [
  { command: 'session end', body: ({ sessionId }) => ({ id: sessionId }) },
  { command: 'session end', body: ({ name }) => ({ user: name }) },
  { command: 'session end', body: ({ userId }) => ({ user: userId }) },
  { command: 'login unlock', body: ({ name }) => ({ user: name }) },
  // Lock-outs count spellings of a name together.
  { command: 'login unlock', body: ({ name }) => ({ user: name.toUpperCase() }) },
  { command: 'user enable', body: ({ name }) => ({ name }) },
  { command: 'user passwd', body: confirmed },
  { command: 'user disable', body: confirmed },
  { command: 'user role', body: (account) => ({ ...confirmed(account), role: 'viewer' }) },
  { command: 'user role', body: (account) => ({ ...confirmed(account), role: account.role }) },
  { command: 'user add', body: ({ name, role }) => ({ name: `${name}-2`, role }) },
  { command: 'user delete', body: confirmed },
]

async function start() {
  const target = await startConsole({
    ...{ ownDatabase: true, isWhole: true },
    config: {
      console: { port: 0, write: true, roles },
      login: { perAddressPerMinute: 1000, failuresPerPair: 1, failuresPerAccount: 1000 },
    },
  })
  await done(target, 'role add secops --name Security --data-scope self')
  return target
}

async function done(target: TestConsole, line: string): Promise<string> {
  const { code, out } = await target.postern(line)
  expect([line, code]).toEqual([line, 0])
  return out
}

async function accountOf(target: TestConsole, name: string, role: string): Promise<Account> {
  const password = (await done(target, `user add ${name} --role ${role}`)).trim()
  const answer = await target.call('POST login', { body: { username: name, password } })
  expect([name, answer.status]).toEqual([name, 200])
  const listed = JSON.parse(await done(target, `session list --user ${name} --output json`))
  const [{ id, userId }] = listed.sessions
  return { name, role, userId, sessionId: id, password, cookie: cookieIn(answer) }
}

/** The accounts with their roles and states, and all sessions. */
async function stateOf(target: TestConsole): Promise<readonly unknown[]> {
  const accounts = await done(target, 'user list --output json')
  const { sessions } = JSON.parse(await done(target, 'session list --output json'))
  const ids = sessions.map(({ id }: { readonly id: string }) => id)
  return [accounts, ids.toSorted()]
}

function callAs(target: TestConsole, { cookie }: Account, { command, body }: Row, other: Account) {
  const line = `POST ${command.replaceAll(' ', '/')}`
  return target.call(line, { cookie, body: body(other) })
}

describe('operations on accounts', () => {
  test('are all in the table', () => {
    const changes = calls.filter(({ kind }) => kind === 'change')
    const names = changes.map(({ operation: { name } }) => name)
    const commands = names.filter((name) => !name.startsWith('policy '))
    expect([...new Set(rows.map(({ command }) => command))].toSorted()).toEqual(commands.toSorted())
  })

  /** Which roles of accounts a caller may touch. */
  test.each([
    { caller: 'viewer', touches: [] },
    { caller: 'editor', touches: [] },
    { caller: 'secops', touches: ['viewer', 'editor'] },
    { caller: 'admin', touches: ['viewer', 'editor', 'secops', 'admin'] },
  ])('may be called by $caller for accounts with the roles $touches', async (expected) => {
    const target = await start()
    const caller = await accountOf(target, 'caller', expected.caller)
    const others = []
    for (const role of ['viewer', 'editor', 'secops', 'admin']) {
      others.push(await accountOf(target, `other-${role}`, role))
    }
    const before = await stateOf(target)
    // What is refused comes first: it changes nothing.
    const isAllowed = ({ role }: Account) => expected.touches.includes(role)
    const refused = [caller, ...others].filter((other) => !isAllowed(other))
    for (const other of refused) {
      for (const row of rows) {
        const { status, body } = await callAs(target, caller, row, other)
        expect([row.command, other.name, status, body]).toEqual([
          ...[row.command, other.name, 403, expect.stringContaining('"not-permitted"')],
        ])
        const why = expected.caller === 'secops' ? 'only an account with role admin' : 'permi'
        expect(JSON.parse(body).errors[0].message).toContain(why)
      }
    }
    expect(await stateOf(target)).toEqual(before)

    for (const other of others.filter(isAllowed)) {
      for (const row of rows) {
        const { status } = await callAs(target, caller, row, other)
        expect([row.command, other.name, status]).toEqual([row.command, other.name, 200])
      }
      expect(await done(target, 'user list --output json')).not.toContain(`"${other.name}"`)
    }
    expect(target.logText()).not.toContain('console command failed')
  })

  test('a publisher gives no account the role of a publisher or an administrator', async () => {
    const target = await start()
    const publisher = await accountOf(target, 'ops', 'secops')
    const clerk = await accountOf(target, 'clerk', 'viewer')
    for (const role of ['secops', 'admin']) {
      const body = { ...confirmed(clerk), role }
      const { status } = await target.call('POST user/role', { cookie: publisher.cookie, body })
      expect([role, status]).toEqual([role, 403])
    }
    expect(await done(target, 'user show clerk')).toMatch(/viewer/)
  })

  test('are refused in the same words at another machine', async () => {
    const target = await start()
    const { password } = await accountOf(target, 'ops', 'secops')
    await accountOf(target, 'Root', 'admin')
    const machine = await remotePostern(`http://127.0.0.1:${target.port}`)
    expect(await machine.logIn('ops', password)).toMatchObject({ code: 0 })

    for (const words of ['session end --user Root', 'login unlock root --output json']) {
      const { code, err } = await machine.run(words.split(' '))
      expect([words, code, err]).toEqual([
        ...[words, 1, expect.stringMatching(/^postern: root .*: only an account with role admin/i)],
      ])
    }
  })

  test('a publisher who unlocks an address leaves the lock-outs of administrators there', async () => {
    const target = await start()
    const { cookie } = await accountOf(target, 'ops', 'secops')
    await accountOf(target, 'clerk', 'viewer')
    await accountOf(target, 'Root', 'admin')
    const lockedOut = async () => {
      const { lockouts } = JSON.parse(await done(target, 'login locks --output json'))
      return lockouts.map(({ username }: { readonly username: string }) => username).toSorted()
    }
    for (const username of ['clerk', 'Root', 'clerk', 'Root']) {
      await target.call('POST login', { body: { username, password: 'wrong' } })
    }
    await until(async () => (await lockedOut()).length === 2)
    const body = { user: '127.0.0.1' }

    const first = await target.call('POST login/unlock', { cookie, body })
    expect([first.status, JSON.parse(first.body).ended]).toEqual([200, 1])
    expect(await lockedOut()).toEqual(['Root'])
    const second = await target.call('POST login/unlock', { cookie, body })
    expect([second.status, second.body]).toEqual([403, expect.stringContaining('role admin')])
    expect(await lockedOut()).toEqual(['Root'])
  })
})
