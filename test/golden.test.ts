import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mask } from './support/golden/mask.ts'
import { createGolden, type GoldenMode } from './support/golden/recorder.ts'

const place = { file: 'cli/user.test.ts', test: 'a user is created' }

/** One run of a test that makes these calls. */
type Run = (mode: GoldenMode, calls: readonly (readonly [call: string, out: string])[]) => void

async function startRuns(): Promise<{
  readonly run: Run
  readonly recording: () => Promise<string>
}> {
  const directory = await mkdtemp(join(tmpdir(), 'golden-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return {
    run(mode, calls) {
      const golden = createGolden({ mode, directory, now: () => place })
      golden.begin()
      const answers = calls.map(([call, out]) => [golden.call(call), out] as const)
      // They may be answered in another order than they were made.
      for (const [answer, out] of answers.toReversed()) answer({ code: 0, out, err: '' })
      golden.end()
      golden.write()
    },
    recording: () => readFile(join(directory, 'cli/user.json'), 'utf8'),
  }
}

describe('golden recordings', () => {
  test('the same output passes, another output, call or exit code fails', async () => {
    const { run, recording } = await startRuns()
    run('record', [
      ['postern user list', 'ada\nbob\n'],
      ['postern user show ada', 'ada\n'],
    ])
    const recorded = await recording()

    run('compare', [
      ['postern user list', 'ada\nbob\n'],
      ['postern user show ada', 'ada\n'],
    ])
    for (const [list, show, out] of [
      ['postern user list', 'postern user show ada', 'eve'],
      ['postern user list', 'postern user show bob', 'ada\n'],
      ['postern user list --all', 'postern user show ada', 'ada\n'],
    ] as const) {
      const calls = [[list, 'ada\nbob\n'] as const, [show, out] as const]
      expect(() => run('compare', calls)).toThrow()
    }
    expect(() => run('compare', [['postern user list', 'ada\nbob\n']])).toThrow()
    expect(await recording()).toBe(recorded)
  })

  test('a line that differs in a second run is marked, and only that line', async () => {
    const { run } = await startRuns()
    run('record', [['postern user create ada', 'created ada\nxyzzy\n']])
    expect(() => run('compare', [['postern user create ada', 'created ada\nplugh\n']])).toThrow()

    run('mark', [['postern user create ada', 'created ada\nplugh\n']])

    run('compare', [['postern user create ada', 'created ada\nfrotz\n']])
    expect(() => run('compare', [['postern user create ada', 'created eve\nfrotz\n']])).toThrow()
  })

  test('of a call that is repeated until it succeeds, the last one counts', async () => {
    const { run } = await startRuns()
    const [waits, done] = [['status', '1/2'] as const, ['status', '2/2'] as const]
    run('record', [['push', 'pushed'], waits, waits, done])

    run('mark', [['push', 'pushed'], waits, done])

    run('compare', [['push', 'pushed'], waits, waits, waits, done])
    expect(() => run('compare', [['push', 'pushed'], waits])).toThrow()
    expect(() => run('compare', [['push', 'refused'], done])).toThrow()
  })

  test('a text that several calls print is kept once', async () => {
    const { run, recording } = await startRuns()
    const calls = ['help', '--help', '-h'].map((call) => [call, 'usage:\n  postern'] as const)
    run('record', calls)

    expect((await recording()).split('usage:')).toHaveLength(2)
    run('compare', calls)
    const [first, second] = calls
    if (first === undefined || second === undefined) throw new Error('no calls')
    expect(() => run('compare', [first, second, ['-h', 'usage:']])).toThrow()
  })

  test('tests that share a name have recordings of their own', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'golden-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const runBoth = (mode: GoldenMode, outs: readonly string[]) => {
      const golden = createGolden({ mode, directory, now: () => place })
      for (const [at, out] of outs.entries()) {
        golden.begin(`id-${at}`)
        golden.call('show')({ out })
        golden.end()
      }
      golden.write()
    }
    runBoth('record', ['one', 'two'])

    runBoth('compare', ['one', 'two'])
    expect(() => runBoth('compare', ['two', 'two'])).toThrow()
    expect(() => runBoth('compare', ['one', 'one'])).toThrow()
  })

  test('a long text is kept by its first lines and its hash', async () => {
    const { run, recording } = await startRuns()
    const text = 'a line of a report\n'.repeat(10_000)
    run('record', [['report', text]])

    expect((await recording()).length).toBeLessThan(2000)
    run('compare', [['report', text]])
    expect(() => run('compare', [['report', `${text}more`]])).toThrow()
  })
})

describe('masks', () => {
  test.each([
    ['since 2026-11-18T10:20:30.123Z, until 2026-12-01', 'since <time>, until <time>'],
    ['http://127.0.0.1:43817/ and [::1]:80', 'http://127.0.0.1:<port>/ and [::1]:<port>'],
    ['done in 12.5 ms', 'done in <duration> ms'],
    ['r-0123456789abcdef0123456789abcdef', '<hash>'],
    [`${tmpdir()}/postern-policy-x1Y2z3/policy.csv:3`, '<tmp>/policy.csv:3'],
    ['7d9a0e9e-6f3c-4c5e-9d55-0123456789ab', '<uuid>'],
    ['Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln', 'Bearer <jwt>'],
    ['0123456789abcdef fedcba9876543210 0123456789abcdef', '<hash> <hash 2> <hash>'],
    ['host-25961-75bd8f is behind', '<replica> is behind'],
    ['"password":"uFkVsRzawadBDWpD"', '"password":"<password>"'],
    ['user 100029, 75.1 GiB free', 'user <id>, <size> GiB free'],
  ])('replace what differs between runs: %s', (text, masked) => {
    expect(mask(text)).toBe(masked)
  })

  test.each([
    'policy.csv:3: editor, /api/v1/articles/:id, GET',
    'postern: 2 of 12 rules, exit code 3',
    'application.trustedProxies[0]: 0.0.0.0/0 trusts everyone',
    'timeoutSeconds, TimeoutNegatives, 10000 rules',
    'identity-headers-of-upstreams-and-gateways',
  ])('%s stays', (text) => {
    expect(mask(text)).toBe(text)
  })
})
