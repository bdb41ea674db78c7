import { describe, expect, test } from 'vitest'
import { findCommand } from '../../src/cli/commands/table.ts'
import { questions } from '../support/console-questions.ts'
import { done, type Office, openOffice, writePolicy } from '../support/remote-office.ts'
import { nowSeconds } from '../support/tokens.ts'

/** Compares with what the command says here, before or after: ages and counts go on meanwhile. */
async function compare({ local, far }: Office, typed: string): Promise<void> {
  const before = await local(typed)
  const asked = await far(typed)
  if (JSON.stringify(before) === JSON.stringify(asked)) return
  expect([typed, asked]).toEqual([typed, await local(typed)])
}

describe('a command with --gateway prints and returns what it does beside the console', () => {
  test.each([
    ['the embedded database', false],
    ['PostgreSQL', true],
  ])('every question, in every format, with Redis and %s', async (_, isPostgres) => {
    const office = await openOffice({ isPostgres })
    for (const [name, asked] of Object.entries(questions)) {
      const { spec } = (await findCommand(name)) ?? {}
      const formats = spec?.options['output']?.choices ?? []
      for (const [, typed] of asked) {
        await compare(office, typed)
        for (const format of ['json', 'jsonl', 'csv']) {
          if (!formats.includes(format)) continue
          const [words, ...rest] = typed.split(' -- ')
          await compare(office, [`${words} --output ${format}`, ...rest].join(' -- '))
        }
      }
    }
    expect(office.console.logText()).not.toContain('"level":"error"')
  })

  test('every draft, valid or not, with the names of its directory', async () => {
    const office = await openOffice()
    await writePolicy(office.cwd, 'p, clerk, /orders, GET\np, lead, /bills, GET\n', 'drafts/new')
    await writePolicy(office.cwd, 'p, clerk\np, lead, /orders, PUT\n', 'drafts/broken')
    for (const directory of ['policies', './policies', 'drafts/new/', 'drafts/broken', 'absent']) {
      for (const typed of [
        `policy check ${directory} --strict`,
        `policy check ${directory} --against live --accounts`,
        `policy test ${directory} --min-coverage 90`,
        `policy diff live ${directory}`,
      ]) {
        await compare(office, typed)
        await compare(office, `${typed} --output json`)
      }
    }
  })
})

describe('a change with --gateway', () => {
  test('goes from a directory to a proposal, live and back', async () => {
    const office = await openOffice()
    const { far, local, cwd } = office
    const live = async () => JSON.parse((await local('policy status --output json')).out).head
    const { revision: first } = await live()
    await writePolicy(cwd, 'p, clerk, /orders, GET\np, lead, /orders, DELETE\n')
    const proposed = await done(far(`policy propose policies -m more --over ${first}`))
    const [revision = ''] = proposed.out.match(/r-[0-9a-f]{12,}/) ?? []
    await compare(office, `policy proposals ${revision}`)
    const unasked = await far(`policy push ${revision} --no-wait`)
    const refused = await far(`policy push ${revision} --no-wait`, { types: 'no' })
    expect((await live()).revision).toBe(first)
    const pushed = await done(far(`policy push ${revision} --no-wait`, { types: 'yes' }))
    expect((await live()).revision).toBe(revision)
    await done(far(`policy rollback ${first} -m back --yes --no-wait`))
    expect((await live()).revision).toBe(first)

    expect([unasked.code, unasked.err]).toEqual([
      1,
      expect.stringContaining('review the diff above, then run again with --yes'),
    ])
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('not published')])
    expect(pushed.out).toBe(`${revision} is live; replicas not checked\n`)
    const history = JSON.parse((await far('policy history --output json')).out)
    expect(history.map(({ author }: { author: string }) => author)).toEqual([
      'admin',
      'admin',
      'ada',
    ])
  })

  test('publishes a directory at once, if its base is live and the person agrees', async () => {
    const office = await openOffice()
    const { far, local, cwd } = office
    const live = async () => JSON.parse((await local('policy status --output json')).out).head
    const open = async () => JSON.parse((await local('policy proposals --output json')).out)
    const { revision: first } = await live()
    await writePolicy(cwd, 'p, clerk, /orders, GET\np, lead, /orders, DELETE\n')
    await writePolicy(cwd, 'p, clerk\n', 'broken')
    const push = `policy push policies -m more --over ${first} --no-wait`
    const unasked = await far(push)
    const refused = await far(push, { types: 'no' })
    const broken = await far(`policy push broken -m more --over ${first} --yes`)
    expect([(await live()).revision, await open()]).toEqual([first, []])
    const pushed = await done(far(push, { types: 'yes' }))
    const { revision: second } = await live()
    await writePolicy(cwd, 'p, clerk, /orders, GET\np, lead, /orders, PATCH\n')
    const late = await far(`${push} --yes`)
    expect([(await live()).revision, await open()]).toEqual([second, []])
    const scripted = await done(far(`${push.replace(first, 'live')} --yes --output json`))

    expect([unasked.code, unasked.err]).toEqual([
      1,
      expect.stringContaining('review the diff above, then run again with --yes'),
    ])
    expect(unasked.err).toContain('/orders')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('not published')])
    expect([broken.code, broken.err]).toEqual([3, expect.stringContaining('broken/policy.csv:1')])
    expect(second).not.toBe(first)
    expect(pushed.out).toBe(`${second} is live; replicas not checked\n`)
    expect([late.code, late.err]).toEqual([1, expect.stringContaining(second)])
    expect(JSON.parse(scripted.out).head).toMatchObject({ revision: (await live()).revision })
  })

  test('of accounts, sessions and lock-outs says what the same change says beside the console', async () => {
    const { local, far } = await openOffice()
    const changes = (name: string) => [
      `user add ${name} --role editor`,
      `user add ${name} --role editor`,
      `user add ${name}-2 --role ghost`,
      `user add ${name}-3 --role editor --output json`,
      `user role ${name} viewer`,
      `user role ${name} ghost`,
      `user role ghost-${name} viewer`,
      `user disable ${name}`,
      `user enable ${name} --output json`,
      `user passwd ${name}`,
      `session end --user ${name}`,
      `session end no-session`,
      `login unlock ${name}`,
      `login unlock ${name} --output json`,
      `user disable admin`,
      `user delete ${name} --yes`,
      `user delete ${name} --yes`,
    ]
    const masked = (text: string, name: string) =>
      text
        .replaceAll(name, 'NAME')
        .replace(/\b(ID |"userId": ")\d+/g, '$1N')
        .replace(/^\w{16}$|(?<="password": ")\w+/gm, 'PASSWORD')
    const said: string[][] = []
    for (const [run, name] of [[local, 'aleph'] as const, [far, 'thorn'] as const]) {
      const texts: string[] = []
      for (const typed of changes(name)) {
        const { code, out, err } = await run(typed)
        texts.push(masked(`${typed}: ${code}\n${err}\n${out}`, name))
      }
      said.push(texts)
    }
    expect(said[1]).toEqual(said[0])
    expect(said[0]?.join('\n')).toContain('PASSWORD')
  })

  test('of policies says what the same change says beside the console', async () => {
    const { local, far, cwd } = await openOffice()
    const { head } = JSON.parse((await local('policy status --output json')).out)
    const first = head.revision as string
    await writePolicy(cwd, 'p, clerk, /orders, GET\np, lead, /orders, DELETE\n')
    const propose = `policy propose policies -m more --over ${first}`
    const proposed = await done(local(propose))
    const [revision = ''] = proposed.out.match(/r-[0-9a-f]{12,}/) ?? []
    const push = `policy push ${revision} --yes --no-wait`
    const drop = `policy proposals --drop ${revision}`
    const back = `policy rollback ${first} -m back --yes --no-wait`
    /** Each of them begins and ends with the same live policy. */
    const steps = [propose, drop, drop, push, propose, push, back, `${back} --output json`]
    const masked = (text: string) =>
      text
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
        .replace(/(?<=by |"author": ")(?:ada|admin)\b/g, 'AUTHOR')
        .replace(/(?<="sequence": )\d+/g, 'N')
    const said: string[][] = []
    await done(local(drop))
    for (const run of [local, far]) {
      const texts: string[] = []
      for (const typed of steps) {
        const { code, out, err } = await run(typed)
        texts.push(masked(`${typed}: ${code}\n${err}\n${out}`))
      }
      said.push(texts)
    }
    expect(said[1]).toEqual(said[0])
    expect(said[0]?.join('\n')).toContain('/orders')
  })

  test('of accounts, sessions and lock-outs is in the audit log with its person', async () => {
    const office = await openOffice()
    const { far } = office
    const added = await done(far('user add zoe --role editor'))
    expect(added.out).toMatch(/^\S+\n$/)
    for (const typed of [
      'user role zoe clerk',
      'user disable zoe',
      'user enable zoe',
      'user passwd zoe',
      'session end --user zoe',
      'login unlock zoe',
    ]) {
      const { code, err } = await far(typed)
      expect([typed, code, err]).toEqual([typed, expect.toBeOneOf([0, 1]), expect.any(String)])
    }
    const unasked = await far('user delete zoe')
    expect([unasked.code, unasked.err]).toEqual([1, expect.stringContaining('with --yes')])
    await done(far('user delete zoe', { types: 'yes' }))
    await compare(office, 'user show zoe')
    const audit = JSON.parse((await far('audit list --subject zoe --output json')).out)
    for (const { actor } of audit) {
      expect(actor).toEqual({ kind: 'user', name: 'admin', origin: '127.0.0.1 (console)' })
    }
    expect(audit.length).toBeGreaterThan(4)
  })

  test('waits for replicas longer than the server waits for a silent client', async () => {
    const office = await openOffice()
    const { far, local, cwd } = office
    const status = JSON.parse((await local('policy status --output json')).out)
    await writePolicy(cwd, 'p, clerk, /orders, GET\np, lead, /orders, DELETE\n')
    const proposed = await done(
      far(`policy propose policies -m more --over ${status.head.revision}`),
    )
    const [revision = ''] = proposed.out.match(/r-[0-9a-f]{12,}/) ?? []

    // The idle timeout is 60 seconds.
    const { code, out, err } = await far(`policy push ${revision} --yes --wait 75 --replicas 9`)

    expect([code, `${out}${err}`]).toEqual([1, expect.stringContaining('9')])
    expect(err).toContain(`published ${revision}`)
  })

  test('asks for the password again after five minutes', async () => {
    let later = 0
    const office = await openOffice({ now: () => nowSeconds() + later })
    const { far, console, remote } = office
    later = 400
    const unasked = await far('user add zoe --role editor')
    const wrong = await far('user add zoe --role editor', { types: 'nonsense' })
    expect((await far('user show zoe')).code).toBe(1)
    await done(far('user add zoe --role editor', { types: console.passwords['admin'] ?? '' }))
    await done(far('user disable zoe'))
    later = 10_000_000
    const expired = await far('user list')

    expect([unasked.code, unasked.err]).toEqual([
      5,
      expect.stringContaining('this change needs a password entered within five minutes'),
    ])
    expect([wrong.code, wrong.err]).toEqual([5, expect.stringContaining('refused')])
    expect([expired.code, expired.out, expired.err]).toEqual([
      5,
      '',
      expect.stringContaining('has expired or was revoked: run "postern gateway login'),
    ])
    expect(console.logText()).not.toContain(console.passwords['admin'])
    expect(remote.state).not.toBe('')
  })
})

describe('a login with --gateway', () => {
  test('has the role of its account, and ends', async () => {
    const { console, remote, far } = await openOffice()
    await done(remote.logIn('editor', console.passwords['editor'] ?? ''))
    const who = JSON.parse((await far('gateway whoami --output json')).out)
    await done(far('user list'))
    const refused = await far('user disable admin')
    const draft = await far('policy check policies')
    await done(far('gateway logout'))
    const after = await far('user list')

    expect(who).toMatchObject({ username: 'editor', role: 'reader', write: true })
    for (const { code, err } of [refused, draft]) {
      expect([code, err]).toEqual([5, expect.stringContaining('your console role does not allow')])
    }
    expect([after.code, after.err]).toEqual([5, expect.stringContaining('not logged in to')])
    const wrong = await remote.logIn('editor', 'nonsense-1')
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('refused')])
  })
})
