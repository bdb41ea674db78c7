import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { parsePrivateKey } from '../../src/signing/ssh-private-key.ts'
import { createSignature, unarmored } from '../../src/signing/ssh-signature.ts'
import { formatStatement, parseStatement } from '../../src/signing/statement.ts'
import { apiPath, startStranger } from '../support/console-stranger.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { remotePostern } from '../support/remote-postern.ts'
import {
  approve,
  createOffice,
  officePeople,
  proposed,
  published,
  push,
  trustedKeys,
} from './approval-office.ts'
import { folder } from './policy-runner.ts'

const redis = emptiedRedis()
const office = (signatures?: number) => createOffice(redis.url, signatures)
type At = Awaited<ReturnType<typeof office>>

/** What `ssh-keygen -Y sign` makes on a machine that has only the key and the statement. */
function signedElsewhere(pem: string, statement: string, namespace = 'postern-policy-live') {
  const found = parsePrivateKey(pem)
  if (typeof found === 'string' || found.kind !== 'private') throw new Error('no private key')
  return unarmored(createSignature(statement, namespace, found.key))
}

async function statementOf(at: At, revision: string): Promise<string> {
  return JSON.parse((await at.run(['proposals', revision, '--output', 'json'])).out).statement
}

const give = (at: At, revision: string, signature: string) =>
  at.run(['approve', revision, '--signature', signature])

describe('a signature that was made elsewhere', () => {
  test('counts as one of --key, and nobody is asked again', async () => {
    const at = await office(2)
    const revision = await proposed(at, '--key', 'ann.pem')
    const statement = await statementOf(at, revision)
    const done = await give(at, revision, signedElsewhere(officePeople.ben.pem, statement))

    expect(done).toMatchObject({ code: 0, out: `ben signed ${revision}\n` })
    expect((await push(at, revision)).code).toBe(0)
  })

  test('is refused unless a trusted key made it, over this statement and for this purpose', async () => {
    const at = await office(2)
    const revision = await proposed(at, '--key', 'ann.pem')
    const statement = await statementOf(at, revision)
    const { ben, eve } = officePeople
    for (const [signature, reason] of [
      ['x', 'is not an SSH signature'],
      [signedElsewhere(eve.pem, statement), 'policy.trust.keys does not list the key that signed'],
      [signedElsewhere(ben.pem, `${statement} `), 'ben signed something else than this proposal'],
      [signedElsewhere(ben.pem, statement, 'postern-policy-shadow'), 'ben signed something else'],
      [signedElsewhere(ben.pem, statement, 'git'), 'ben signed something else'],
    ] as const) {
      const { code, out, err } = await give(at, revision, signature)
      expect([code, out]).toEqual([1, ''])
      expect(err).toContain(`postern: refused: `)
      expect(err).toContain(reason)
    }
    expect((await at.run(['proposals'])).out).toContain('1/2 (ann)')
  })

  test('needs policy.trust, and stands in place of a key', async () => {
    const at = await office()
    const revision = await proposed(at)
    const signature = signedElsewhere(officePeople.ben.pem, await statementOf(at, revision))
    const unverifiable = await give(at, revision, signature)
    const both = await at.run(['approve', revision, '--key', 'ben.pem', '--signature', signature])
    const neither = await at.run(['approve', revision])

    expect(unverifiable.code).toBe(1)
    expect(unverifiable.err).toContain('without policy.trust')
    expect([both.code, neither.code]).toEqual([2, 2])
    expect(neither.err).toContain('give either --key FILE')
  })
})

interface Told {
  readonly proposal: Record<string, unknown>
  readonly files: (revision: string) => unknown
}

/** A program at the address of a console, which tells an approver what `told` says. */
async function startLiar(told: Told) {
  const posted: string[] = []
  const { run } = await startStranger((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://console')
    const say = (out: unknown) => {
      response.setHeader('content-type', 'application/vnd.postern.answered+json')
      response.end(JSON.stringify({ told: '', answer: { document: out } }))
    }
    if (pathname === `${apiPath}policy/proposals`) say(told.proposal)
    else if (pathname === `${apiPath}policy/files`) {
      say({ files: told.files(searchParams.get('revision') ?? '') })
    } else {
      posted.push(pathname)
      say({})
    }
  })
  return { posted, run }
}

describe('approve --gateway', () => {
  async function real() {
    const at = await office(2)
    await published(at)
    await at.edit('/orders, GET', '/stock, GET')
    const revision = await proposed(at, '--key', 'ann.pem')
    const json = async (...args: readonly string[]) =>
      JSON.parse((await at.run([...args, '--output', 'json'])).out)
    const proposal = await json('proposals', revision)
    const files = new Map<string, unknown>()
    for (const each of [revision, proposal.over]) files.set(each, (await json('files', each)).files)
    const trust = { keys: trustedKeys, signatures: 2 }
    const cwd = await folder({
      'ben.pem': officePeople.ben.pem,
      'config/postern.yaml': stringify({
        application: { mode: 'dev' },
        redis: { url: 'redis://127.0.0.1:1' },
        policy: { source: 'redis', trust },
      }),
    })
    return { at, revision, proposal, filesOf: (each: string) => files.get(each), cwd }
  }

  test('shows what the files say, not the console, and sends a signature that counts', async () => {
    const { at, revision, proposal, filesOf, cwd } = await real()
    // What the console says of the difference is not shown.
    const told = { ...proposal, diff: { changes: [] }, author: 'nobody' }
    const { run, posted } = await startLiar({ proposal: told, files: filesOf })
    const asked = await run(['policy', 'approve', revision, '--key', 'ben.pem'], {
      ...{ cwd, types: 'no' },
    })
    expect([asked.code, posted]).toEqual([1, []])
    expect(asked.err).toContain('proposed    by ann at ')
    expect(asked.err).toContain('clerk  GET  /stock')
    expect(asked.err).toContain('access widens: 1 gain')
    expect(asked.err).toMatch(/compared with r-[0-9a-f]+ \(serial \d+, signed by ann, ben\)/)
    expect(asked.err).toMatch(/\. Sign r-[0-9a-f]+ as ben\? Type yes: /)

    const done = await run(['policy', 'approve', revision, '--key', 'ben.pem', '--yes'], { cwd })
    expect([done.code, posted]).toEqual([0, [`${apiPath}policy/approve`]])
    expect((await approve(at, revision, 'ben.pem')).code).toBe(0)
  })

  test('signs nothing that differs from what it shows', async () => {
    const { revision, proposal, filesOf, cwd } = await real()
    const statement = parseStatement(proposal.statement)
    if (statement === undefined) throw new Error('no statement')
    const stated = (change: object) => ({
      ...proposal,
      statement: formatStatement({ ...statement, ...change }),
    })
    const others = [
      { name: 'model.conf', text: 'x' },
      { name: 'policy.csv', text: 'p, clerk, /*, GET\n' },
    ]
    const { base } = proposal
    const aDay = 25 * 60 * 60 * 1000
    for (const [told, reason] of [
      // Files of another policy, and harmless ones for another statement.
      [{ proposal, files: () => filesOf(proposal.over) }, 'the files of r-'],
      [{ proposal, files: () => others }, 'the files of r-'],
      [{ proposal, files: () => 'none' }, 'the files of r-'],
      [{ proposal: stated({ revision: proposal.over }), files: filesOf }, 'a valid statement'],
      [{ proposal: { ...proposal, statement: 'x' }, files: filesOf }, 'a valid statement'],
      // It would exclude all that follow.
      [{ proposal: stated({ serial: Date.now() + aDay }), files: filesOf }, 'a valid statement'],
      [{ proposal: stated({ purpose: 'shadow' }), files: filesOf }, 'a valid statement'],
      [{ proposal: { ...proposal, needed: 0 }, files: filesOf }, 'policy.trust is not set there'],
      // A predecessor that nobody signed, or one person, or that is another one.
      [
        { proposal: stated({ after: { ...statement.after, serial: 5 } }), files: filesOf },
        'signatures that make r-',
      ],
      [{ proposal: { ...proposal, base: null }, files: filesOf }, 'signatures that make r-'],
      [
        {
          proposal: { ...proposal, base: { ...base, signatures: base.signatures.slice(0, 1) } },
          files: filesOf,
        },
        'signatures that make r-',
      ],
      [
        {
          proposal: { ...proposal, base: { ...base, statement: proposal.statement } },
          files: filesOf,
        },
        'signatures that make r-',
      ],
      [
        { proposal: { ...proposal, state: 'stale' }, files: filesOf },
        'another policy was published',
      ],
    ] as const) {
      const { run, posted } = await startLiar(told as Told)
      const { code, out, err } = await run(
        ['policy', 'approve', revision, '--key', 'ben.pem', '--yes'],
        { cwd },
      )
      expect([reason, code, out, posted]).toEqual([reason, 1, '', []])
      expect(err).toContain(reason)
    }
  })

  test('shows signatures that this machine verified, whatever the console says', async () => {
    const { revision, proposal, filesOf, cwd } = await real()
    const told = { ...proposal, signers: ['ann', 'carl'], signatures: [], needed: 1 }
    const { run } = await startLiar({ proposal: told, files: filesOf })
    const { err } = await run(['policy', 'approve', revision, '--key', 'ben.pem'], {
      ...{ cwd, types: 'no' },
    })
    expect(err).toContain('proposed    by ann (not verified) at ')
    expect(err).toContain('signatures  0/2\n')
  })

  test('needs the key, and a configuration with policy.trust', async () => {
    const machine = await remotePostern('http://127.0.0.1:1')
    const { cwd } = await real()
    const bare = await folder({ 'ben.pem': officePeople.ben.pem })
    const untrusting = await machine.run(
      ['policy', 'approve', 'r-3f2a9c81d604', '--key', 'ben.pem'],
      { cwd: bare },
    )
    expect(untrusting).toMatchObject({ code: 1, out: '' })
    expect(untrusting.err).toContain('refused: without policy.trust, this machine cannot verify')
    for (const [args, code, reason] of [
      [['--key', 'ben.pem', '--config', 'x.yaml'], 3, 'x.yaml'],
      [['--key', 'ben.pem', '--base', 'x'], 2, '--base does not work with --gateway'],
      [['--key', 'none.pem'], 3, 'none.pem'],
      [[], 2, '--signature is required with --gateway'],
    ] as const) {
      const ran = await machine.run(['policy', 'approve', 'r-3f2a9c81d604', ...args], { cwd })
      expect([ran.code, ran.out]).toEqual([code, ''])
      expect(ran.err).toContain(reason)
    }
  })
})
