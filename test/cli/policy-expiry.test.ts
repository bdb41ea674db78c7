import { describe, expect, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { widestModel } from '../policy/policy-text.ts'
import { folder, policy } from './policy-runner.ts'

const lines = [
  'p, clerk, /orders/:id, GET, allow',
  '# postern: until 2026-12-01',
  'p, clerk, /orders/:id, PUT, allow',
  '# postern: until 2027-03-01T12:00:00Z',
  'g, lead, clerk',
]
const exclusions = [
  '# postern: until 2026-11-20',
  '- { method: GET, path: /news, reason: For the fair. }',
]
const files = {
  'policies/model.conf': formatModel(widestModel),
  'policies/policy.csv': lines.join('\n'),
  'policies/exclusions.yaml': exclusions.join('\n'),
}
const [november, december] = [Date.UTC(2026, 10, 16), Date.UTC(2026, 11, 1)]

async function ask(
  args: readonly string[],
  at = november,
  more: Readonly<Record<string, string>> = {},
) {
  return policy(args, { cwd: await folder({ ...files, ...more }), now: () => at })
}

describe('postern policy explain', () => {
  const call = ['explain', 'clerk', 'PUT', '/orders/7']

  test('names the end of the rule that decides', async () => {
    const { code, out } = await ask(call)

    expect(code).toBe(0)
    expect(out).toContain('policies/policy.csv:3: p, clerk, /orders/:id, PUT (until 2026-12-01)\n')
    expect(JSON.parse((await ask([...call, '--output', 'json'])).out).rule.until).toBe('2026-12-01')
  })

  test('names the rule that has expired', async () => {
    const { code, out, err } = await ask(call, december)

    expect(code).toBe(1)
    expect(out).toContain('denied: clerk may not PUT /orders/7')
    expect(out).toMatch(/policy\.csv:3: .* \(until 2026-12-01\) {2}has expired\n/)
    expect(err).toContain(
      'note: 2 lines have expired and no longer count, for example policies/policy.csv:3',
    )
  })

  test('answers for another time', async () => {
    expect((await ask([...call, '--at', '2026-12-01'])).code).toBe(1)
    expect((await ask([...call, '--at', '2026-11-30T23:59:59Z'], december)).code).toBe(0)
    const { code, err } = await ask([...call, '--at', 'tomorrow'])
    expect(code).toBe(2)
    expect(err).toContain('--at: "tomorrow" is not a date')
  })
})

describe('postern policy who, can, open and matrix', () => {
  test('name the end, which for an heir is that of the inheritance', async () => {
    const { out } = await ask(['who', 'GET', '/orders/7'])

    expect(out).toMatch(/clerk {2}policies\/policy\.csv:1: p, clerk, \/orders\/:id, GET\n/)
    expect(out).toMatch(/lead .*GET \(until 2027-03-01T12:00:00Z\) {2}clerk\n/)
    const sooner = await ask(['who', 'PUT', '/orders/7'])
    expect(sooner.out).toMatch(/lead .*PUT \(until 2026-12-01\) {2}clerk\n/)
  })

  test('leave out what has expired', async () => {
    expect((await ask(['who', 'PUT', '/orders/7'], december)).out).toContain('only admin may')
    expect((await ask(['who', 'GET', '/orders/7'], Date.UTC(2027, 2, 2))).out).not.toContain('lead')
    expect((await ask(['open'], december)).out).not.toContain('/news')
  })

  test('show it in lists', async () => {
    const { out } = await ask(['can', 'lead'])

    expect(out).toMatch(
      /GET +\/orders\/:id +\S+:1 +until 2027-03-01T12:00:00Z; inherited from clerk/,
    )
    expect(out).toMatch(/PUT +\/orders\/:id +\S+:3 +until 2026-12-01; inherited from clerk/)
    expect((await ask(['open'])).out).toContain('exclusions.yaml:2, until 2026-11-20')
    const compared = await ask(['can', 'clerk', '--compare', 'lead', '--at', '2027-04-01'])
    expect(compared.code).toBe(0)
  })

  test('say how long a matrix holds', async () => {
    const { err } = await ask(['matrix'])

    expect(err).toContain('note: this holds until 2026-11-20, when a line of the policy expires')
  })
})

describe('postern policy check', () => {
  test('warns 14 days ahead, and afterwards', async () => {
    const { code, err } = await ask(['check'], Date.UTC(2026, 10, 21))

    expect(code).toBe(0)
    expect(err).toContain(
      'policies/policy.csv:3:1: warning: expires on 2026-12-01, in 10 days: from then on gateways ignore the line; change the date of the comment above if it is still needed\n',
    )
    expect(err).toContain(
      'policies/exclusions.yaml:2:1: warning: expired on 2026-11-20: gateways ignore the line; remove it, or change the date of the comment above\n',
    )
    expect(err).not.toContain('policy.csv:5')
    expect((await ask(['check', '--strict'], Date.UTC(2026, 10, 21))).code).toBe(3)
  })

  test('calls no line redundant that lasts longer than what covers it', async () => {
    const narrow = 'p, clerk, /orders/:id, GET, allow'
    const wide = 'p, clerk, /orders/*, GET, allow'
    const until = '# postern: until 2027-06-01'
    const warnings = async (...text: readonly string[]) => {
      const { err } = await ask(['check'], november, { 'policies/policy.csv': text.join('\n') })
      return err
    }

    expect(await warnings(until, wide, narrow)).not.toContain('redundant')
    expect(await warnings(wide, until, narrow)).toContain('redundant')
    expect(await warnings(until, wide, until, narrow)).toContain('redundant')
  })

  test('reports a comment that is not exact with its line', async () => {
    const { code, err } = await ask(['check'], november, {
      'policies/policy.csv': `# postern: until 2026-13-01\n${lines[0]}`,
    })

    expect(code).toBe(3)
    expect(err).toContain('policies/policy.csv:1: error: "2026-13-01" is not a date: write one')
  })
})

describe('postern policy test', () => {
  test('evaluates an entry for its own time', async () => {
    const tests = `
- { role: clerk, method: PUT, path: /orders/7, expect: allow, at: 2026-11-30, reason: Still. }
- { role: clerk, method: PUT, path: /orders/7, expect: deny, at: 2026-12-01, reason: Over. }
- { role: clerk, method: PUT, path: /orders/7, expect: allow, reason: Now. }
`
    const before = await ask(['test'], november, { 'policies/tests/a_test.yaml': tests })
    const after = await ask(['test'], december, { 'policies/tests/a_test.yaml': tests })

    expect(before.out).toContain('3 tests, 3 passed')
    expect(after.out).toContain('3 tests, 2 passed, 1 failed')
    expect(after.out).toContain('a_test.yaml:4:3: failed: clerk PUT /orders/7: expected allow')
  })

  test('rejects a time that is none', async () => {
    const tests = '- { role: clerk, method: PUT, path: /orders/7, expect: deny, at: soon }'
    const { code, err } = await ask(['test'], november, { 'policies/tests/a_test.yaml': tests })

    expect(code).toBe(3)
    expect(err).toContain('"soon" is not a date')
  })
})

describe('postern policy diff', () => {
  const shorter = lines.map((line) => line.replace('2026-12-01', '2026-11-25'))

  test('shows a moved time as a gain or a loss from that day on', async () => {
    const more = {
      'new/model.conf': files['policies/model.conf'],
      'new/policy.csv': shorter.join('\n'),
    }
    const loss = await ask(['diff', 'policies', 'new'], november, more)
    const gain = await ask(['diff', 'new', 'policies'], november, more)

    expect(loss.code).toBe(0)
    expect(loss.out).toMatch(
      /\nfrom 2026-11-25 on:\n +- +clerk +PUT +\/orders\/:id +policies\/policy\.csv:3 +and 1 role/,
    )
    expect(gain.code).toBe(1)
    expect(gain.out).toMatch(
      /\nfrom 2026-11-25 on:\n +\+ +clerk +PUT +\/orders\/:id +policies\/policy\.csv:3 +until 2026-12-01/,
    )
    const { out } = await ask(['diff', 'new', 'policies', '--output', 'json'], november, more)
    const [change] = JSON.parse(out).changes.filter(
      ({ cause }: { cause: string }) => cause === 'allow',
    )
    expect(change).toMatchObject({ startsAt: '2026-11-25', until: '2026-12-01' })
    const markdown = await ask(['diff', 'new', 'policies', '--output', 'markdown'], november, more)
    expect(markdown.out).toContain('by policies/policy.csv:3, from 2026-11-25 on, until 2026-12-01')
  })

  test('shows the lasting access that a line gives when a grant beside it expires', async () => {
    const base = [
      'p, editor, /orders, *, allow',
      '# postern: until 2026-12-01',
      'p, lead, /orders, *, allow',
      'p, lead, /orders, GET, deny',
    ]
    const link = 'g, lead, editor'
    const more = {
      'old/model.conf': files['policies/model.conf'],
      'old/policy.csv': [...base, 'p, x, /y, GET, allow'].join('\n'),
      'new/model.conf': files['policies/model.conf'],
      'new/policy.csv': [...base.slice(0, 3), link].join('\n'),
    }
    const { code, out } = await ask(['diff', 'old', 'new'], november, more)

    expect(code).toBe(1)
    const [, now, later] = out.split(/^(?:now|from .* on):$/m)
    expect(now).toMatch(/\+ +lead +inherits +editor +new\/policy\.csv:4 +1 rule: GET \/orders\n/)
    expect(later).toMatch(/\+ +lead +inherits +editor +new\/policy\.csv:4 +1 rule: \* \/orders/)
    expect(out).toContain('\nfrom 2026-12-01 on:\n')
    expect(out).toContain('access widens: 3 gains (1 of wildcards, 2 of reading), 1 loss\n')
  })
})
