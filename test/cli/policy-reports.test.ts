import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { freePort } from '../support/redis-server.ts'
import { folder, policy } from './policy-runner.ts'

const model = readFileSync('policies/model.conf', 'utf8')
const sound = {
  'policies/model.conf': model,
  'policies/policy.csv': 'p, clerk, /orders, GET\n',
  'policies/tests/a_test.yaml': '- { role: clerk, method: GET, path: /orders, expect: allow }\n',
}
const doubtful = { ...sound, 'policies/policy.csv': 'p, clerk, /orders, GET\n'.repeat(2) }
const formats = ['junit', 'sarif', 'markdown', 'github'] as const

function sarifOf(out: string) {
  return JSON.parse(out).runs[0]
}

describe('policy check', () => {
  test('reports a warning with its line in every format', async () => {
    const cwd = await folder(doubtful)

    const [junit, sarif, markdown, github] = await Promise.all(
      formats.map((format) => policy(['check', '--output', format], { cwd })),
    )

    expect([junit, sarif, markdown, github].map((ran) => ran?.code)).toEqual([0, 0, 0, 0])
    expect(junit?.out).toContain(
      'name="duplicate">\n      <system-out>policies/policy.csv:2:1: duplicate',
    )
    expect(junit?.out).toContain('failures="0" errors="0"')
    expect(sarifOf(sarif?.out ?? '').results).toMatchObject([
      { ruleId: 'duplicate', level: 'warning', locations: [{ physicalLocation: { region } }] },
    ])
    expect(markdown?.out).toContain('### Postern policy check: valid, with warnings\n\n1 warning.')
    expect(github?.out).toContain('\n::warning file=policies/policy.csv,line=2,col=1,title=')
    expect(sarif?.err).toContain('policies/policy.csv:2:1: warning: duplicate')
    expect(github?.err).toBe('')
  })

  const region = { startLine: 2, startColumn: 1 }

  test('fails for warnings with --strict, in JUnit as well', async () => {
    const cwd = await folder(doubtful)

    const { code, out } = await policy(['check', '--strict', '--output', 'junit'], { cwd })

    expect(code).toBe(3)
    expect(out).toContain('failures="1" errors="0"')
  })

  test('keeps the fingerprint of a warning when a line is added above it', async () => {
    const above = { 'policies/policy.csv': `# why\n${doubtful['policies/policy.csv']}` }
    const [before, after] = await Promise.all([folder(doubtful), folder({ ...doubtful, ...above })])

    const [a, b] = await Promise.all(
      [before, after].map((cwd) => policy(['check', '--output', 'sarif'], { cwd })),
    )

    const [first, second] = [a, b].map((ran) => sarifOf(ran?.out ?? '').results[0])
    expect(second.locations).not.toEqual(first.locations)
    expect(second.partialFingerprints).toEqual(first.partialFingerprints)
  })
})

describe('policy test', () => {
  const failing = {
    ...sound,
    'policies/policy.csv': 'p, clerk, /orders, GET\np, clerk, /orders, PUT\n',
    'policies/tests/b_test.yaml':
      '- { role: clerk, method: GET, path: /orders, expect: deny, reason: "a | `b` <i> @org/team" }\n',
  }

  test('reports failures, uncovered rules and missing coverage in every format', async () => {
    const cwd = await folder(failing)

    const [junit, sarif, markdown, github] = await Promise.all(
      formats.map((format) =>
        policy(['test', '--min-coverage', '90', '--output', format], { cwd }),
      ),
    )

    expect([junit, sarif, markdown, github].map((ran) => ran?.code)).toEqual([4, 4, 4, 4])
    expect(junit?.out).toContain('<testsuites name="postern policy test" tests="3" failures="2"')
    expect(junit?.out).toContain(
      'name="coverage-too-low">\n      <failure message="coverage is 50 %',
    )
    expect(
      sarifOf(sarif?.out ?? '').results.map((each: { ruleId: string }) => each.ruleId),
    ).toEqual(['test-failed', 'coverage-too-low', 'not-covered'])
    expect(markdown?.out).toContain('### Postern policy test: failed\n\n2 errors, 1 note.')
    expect(markdown?.out).toContain('policies/policy.csv:2: not covered: clerk PUT /orders')
    expect(github?.out).toContain('::error file=policies/tests/b_test.yaml,line=1,col=3,title=')
  })

  test('says that there are no tests', async () => {
    const { 'policies/tests/a_test.yaml': _, ...untested } = sound
    const cwd = await folder(untested)

    const ran = await Promise.all(
      formats.map((format) => policy(['test', '--output', format], { cwd })),
    )

    for (const { code, out } of ran) {
      expect(code).toBe(4)
      expect(out).toContain('the directory has no tests')
    }
  })
})

describe('policy diff', () => {
  const versions = {
    ...sound,
    'new/model.conf': model,
    'new/policy.csv': 'p, clerk, /stock/*, PUT\n',
    'new/exclusions.yaml': '- { method: GET, path: /help, reason: public }\n',
  }

  test('reports gains and losses in every format, most severe first', async () => {
    const cwd = await folder(versions)

    const [junit, sarif, markdown, github] = await Promise.all(
      formats.map((format) => policy(['diff', 'policies', 'new', '--output', format], { cwd })),
    )

    expect([junit, sarif, markdown, github].map((ran) => ran?.code)).toEqual([1, 1, 1, 1])
    expect(junit?.out).toContain('tests="3" failures="2" errors="0"')
    expect(sarifOf(sarif?.out ?? '').results).toMatchObject([
      { ruleId: 'access-unchecked', level: 'error' },
      { ruleId: 'access-wide', level: 'error' },
      // A removed line has no place in the new files.
      { ruleId: 'access-lost', level: 'note', locations: [{ physicalLocation: { region: top } }] },
    ])
    expect(markdown?.out).toContain('### Postern policy diff: access widens\n')
    expect(markdown?.out).toContain('\n- clerk GET /orders (removed from policies/policy.csv:1)\n')
    expect(github?.out).toContain('::error file=new/policy.csv,line=1,title=')
    expect(markdown?.err).toContain('access widens: 2 gains')
  })

  const top = { startLine: 1 }

  test('passes when access stays the same', async () => {
    const cwd = await folder(sound)

    const ran = await Promise.all(
      formats.map((format) =>
        policy(['diff', 'policies', 'policies', '--output', format], { cwd }),
      ),
    )

    expect(ran.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(ran[0]?.out).toContain('tests="1" failures="0" errors="0"')
    expect(ran[2]?.out).toContain('### Postern policy diff: access stays the same\n')
  })
})

describe('a command that cannot answer', () => {
  test.each([
    ['check of no directory', 3, ['check', 'nowhere'], {}],
    ['check of a bad row', 3, ['check'], { 'policies/policy.csv': 'p, "<&' }],
    ['test of no directory', 3, ['test', 'nowhere'], {}],
    ['test of a bad file', 3, ['test'], { 'policies/tests/a_test.yaml': '[[[' }],
    ['diff with a bad policy', 3, ['diff', 'policies', 'nowhere'], {}],
    ['diff without Redis', 5, ['diff'], {}],
  ])('writes a document also for a %s', async (_, code, args, changes) => {
    const cwd = await folder({ ...sound, ...changes })
    const env = { POSTERN_REDIS__URL: `redis://:hunter2@127.0.0.1:${await freePort()}` }

    const ran = await Promise.all(
      formats.map((format) => policy([...args, '--output', format], { cwd, env })),
    )

    const [junit = '', sarif = '', markdown = '', github = ''] = ran.map(({ out }) => out)
    expect(ran.map((each) => each.code)).toEqual(formats.map(() => code))
    expect(junit).toMatch(/<(?:error|failure) message="[^"<]+">[^<]+<\/(?:error|failure)>/)
    expect(sarif).toContain('"level": "error"')
    expect(sarifOf(sarif).invocations).toHaveLength(1)
    expect(markdown).toMatch(
      /^<!-- postern policy \w+ -->\n### Postern policy \w+: (?:not valid|no answer)\n/,
    )
    expect(github).toMatch(/^::notice .*\n::error /)
    expect(JSON.stringify(ran)).not.toContain('hunter2')
  })
})
