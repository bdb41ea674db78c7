import { describe, expect, test } from 'vitest'
import type { Report, Result } from '../../src/cli/report/report.ts'
import { renderReport } from '../../src/cli/report/write.ts'

const place = { cwd: '/repo', env: {} }
const hostile =
  '|a` ``` <script>alert(1)</script> @org/team ]]> \0 \r\n::error::x ##[error]y \u001b[31m %0A [x](https://e.example) {0} \u202e \ud800'

function report(results: readonly Result[], rest: Partial<Report> = {}): Report {
  return {
    ...{ command: 'policy check', verdict: 'valid', summary: [], failsAt: 'error' },
    rules: {
      one: { summary: 'The first rule.', help: 'Fix it.' },
      two: { summary: 'The second rule.', help: 'Fix it, too.' },
    },
    results,
    ...rest,
  }
}

function result(rest: Partial<Result> = {}): Result {
  const at = { file: 'policies/policy.csv', line: 3, column: 4 }
  return { rule: 'one', level: 'warning', message: 'looks wrong', ...at, ...rest }
}

function sarif(some: Report, where = place) {
  return JSON.parse(renderReport(some, 'sarif', where)).runs[0]
}

describe('SARIF', () => {
  test('has rule, level, message, place and fingerprint of a result', () => {
    const run = sarif(report([result()]))

    expect(run.tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(['one', 'two'])
    expect(run.automationDetails.id).toBe('postern-policy-check/')
    expect(run.invocations).toEqual([{ executionSuccessful: true }])
    expect(run.results).toEqual([
      {
        ...{ ruleId: 'one', ruleIndex: 0, level: 'warning', message: { text: 'looks wrong' } },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: 'policies/policy.csv', uriBaseId: '%SRCROOT%' },
              region: { startLine: 3, startColumn: 4 },
            },
          },
        ],
        partialFingerprints: { primaryLocationLineHash: expect.stringMatching(/^[0-9a-f]{16}:1$/) },
      },
    ])
  })

  test.each([
    ['a space # and 100%?.csv', 'a%20space%20%23%20and%20100%25%3F.csv'],
    ['C:x/é.csv', 'C%3Ax/%C3%A9.csv'],
    ['./a//b/../c.csv', 'a/c.csv'],
    ['git:main:policies/a b.csv', 'policies/a%20b.csv'],
  ])('writes the file %s as a URI', (file, uri) => {
    const [found] = sarif(report([result({ file })])).results

    expect(found.locations[0].physicalLocation.artifactLocation.uri).toBe(uri)
  })

  test.each([
    ['../other/a b.csv', {}, { uri: 'file:///other/a%20b.csv' }],
    ['a.csv', { GITHUB_WORKSPACE: '/' }, { uri: 'repo/a.csv', uriBaseId: '%SRCROOT%' }],
    ['../other/a.csv', { CI_PROJECT_DIR: '/' }, { uri: 'other/a.csv', uriBaseId: '%SRCROOT%' }],
    ['a.csv', { GITHUB_WORKSPACE: '/else' }, { uri: 'a.csv', uriBaseId: '%SRCROOT%' }],
  ])('names %s from the root of the checkout in %j', (file, env, expected) => {
    const [found] = sarif(report([result({ file })]), { cwd: '/repo', env }).results

    expect(found.locations[0].physicalLocation.artifactLocation).toEqual(expected)
  })

  test('keeps the fingerprint while lines move, and numbers equal ones', () => {
    const prints = (some: readonly Result[]) =>
      sarif(report(some)).results.map(
        (each: { partialFingerprints: { primaryLocationLineHash: string } }) =>
          each.partialFingerprints.primaryLocationLineHash,
      )
    const [first, second] = prints([result({ message: 'see a.csv:3' }), result({ text: 'p, x' })])

    expect(first).not.toBe(second)
    expect(prints([result({ message: 'see a.csv:9', line: 8 })])).toEqual([first])
    expect(prints([result({ message: 'other', text: 'p, x', line: 9 })])).toEqual([second])
    expect(prints([result({ line: 1 }), result({ line: 2 })])[1]).toMatch(/:2$/)
  })

  test('reports what concerns no file, and a missing answer, as notifications', () => {
    const run = sarif(
      report([{ rule: 'one', level: 'error', message: 'Redis is unreachable' }], {
        isUnanswered: true,
      }),
    )

    expect(run.results).toEqual([])
    expect(run.invocations).toEqual([
      {
        executionSuccessful: false,
        toolExecutionNotifications: [
          {
            level: 'error',
            message: { text: 'Redis is unreachable' },
            associatedRule: { id: 'one' },
          },
        ],
      },
    ])
  })

  test('keeps the 5,000 most severe results, and says how many it leaves out', () => {
    const many = Array.from({ length: 6000 }, (_, index) =>
      result({ line: index + 1, level: index < 5900 ? 'note' : 'error' }),
    )

    const run = sarif(report(many))

    expect(run.results).toHaveLength(5000)
    expect(run.results[99].level).toBe('error')
    expect(run.results[100].level).toBe('note')
    expect(run.invocations[0].toolExecutionNotifications[0].message.text).toContain('1000 less')
  })

  test('has no placeholder, link or control character from a policy', () => {
    const [{ message }] = sarif(report([result({ message: hostile })])).results

    expect(message.text).toContain('{{0}}')
    expect(message.text).toContain('[x] (https://e.example)')
    expect(message.text).not.toMatch(/[\p{Cc}\p{Cf}\ud800]/u)
  })
})

describe('Markdown', () => {
  test('starts with a marker and the verdict, then groups results by severity', () => {
    const text = renderReport(
      report([result({ rule: 'two', level: 'note' }), result()], { summary: ['policies: valid'] }),
      'markdown',
      place,
    )

    expect(text).toBe(
      [
        '<!-- postern policy check -->',
        '### Postern policy check: valid',
        '',
        '1 warning, 1 note.',
        '',
        '`policies: valid`',
        '',
        '**The first rule. (one, 1 warning)**',
        '',
        'Fix it.',
        '',
        '```text',
        'policies/policy.csv:3:4: looks wrong',
        '```',
        '',
        '**The second rule. (two, 1 note)**',
        '',
        'Fix it, too.',
        '',
        '```text',
        'policies/policy.csv:3:4: looks wrong',
        '```',
        '',
      ].join('\n'),
    )
  })

  test('keeps every text of a policy inside code', () => {
    const text = renderReport(
      report([result({ message: hostile, file: hostile })], { summary: [hostile] }),
      'markdown',
      place,
    )

    const outside = text
      .replaceAll(/^(`{3,})(?:text|diff)\n[\s\S]*?\n\1$/gm, '')
      .replaceAll(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, '')
    expect(outside).not.toMatch(/script|@|\||e\.example|::/)
    expect(text).toContain('````text')
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
  })

  test.each([
    ['a ` b', '``a ` b``'],
    ['`', '`` ` ``'],
    ['`` x', '``` `` x ```'],
    [' x', '`  x `'],
  ])('writes %j as a code span', (line, span) => {
    expect(renderReport(report([], { summary: [line] }), 'markdown', place)).toContain(
      `\n${span}\n`,
    )
  })

  test('colors gains and losses', () => {
    const text = renderReport(
      report([result({ sign: '+', message: 'viewer PUT /orders' })]),
      'markdown',
      place,
    )

    expect(text).toContain('```diff\n+ viewer PUT /orders\n```')
    expect(text).not.toContain('warning')
  })

  test('folds long lists, and stays below the limit of a comment with both groups in it', () => {
    const many = Array.from({ length: 10_000 }, (_, index) =>
      result({ line: index, message: 'x'.repeat(index % 2 ? 90_000 : 200) }),
    )

    const text = renderReport(
      report([...many, result({ rule: 'two', message: 'the last' })]),
      'markdown',
      place,
    )

    expect(text.length).toBeLessThan(65_536)
    expect(text.length).toBeGreaterThan(55_000)
    expect(text).toContain(
      '<details><summary>The first rule. (one, 10,000 warnings)</summary>\n\nFix it.\n\n```text\n',
    )
    expect(text).toMatch(/\n```\n\n… and [\d,]+ more: --output json lists all\.\n\n<\/details>\n/)
    expect(text).toContain('the last')
  })
})

describe('a Markdown comment of hostile lines', () => {
  test('stays below the limit', () => {
    const ids = Array.from({ length: 30 }, (_, index) => `rule-${index}`)
    const rules = Object.fromEntries(
      ids.map((id) => [id, { summary: 'x'.repeat(80), help: 'x'.repeat(200) }]),
    )
    const many = ids.flatMap((rule) =>
      Array.from({ length: 100 }, () => result({ rule, message: '`'.repeat(1000) })),
    )
    const summary = Array.from({ length: 1000 }, () => '`'.repeat(1000))

    const text = renderReport(report(many, { rules, summary }), 'markdown', place)

    expect(text.length).toBeLessThan(65_536)
  })
})

describe('GitHub annotations', () => {
  test('are a summary, then the results, most severe first', () => {
    const text = renderReport(
      report([result(), result({ level: 'error', line: 9 })], { summary: ['policies: valid'] }),
      'github',
      place,
    )

    expect(text.split('\n')).toEqual([
      '::notice title=postern policy check::valid (1 error, 1 warning)%0Apolicies: valid',
      '::error file=policies/policy.csv,line=9,col=4,title=The first rule.::looks wrong',
      '::warning file=policies/policy.csv,line=3,col=4,title=The first rule.::looks wrong',
      '',
    ])
  })

  test('escape what would end a property, a message or a line', () => {
    const text = renderReport(
      report([result({ file: 'a,b:c%\n.csv', message: hostile })], { summary: [hostile] }),
      'github',
      place,
    )

    const lines = text.split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[1]).toContain('file=a%2Cb%3Ac%25\\u{a}.csv,line=3')
    expect(lines[1]).toContain('\\u{d}\\u{a}::error::x')
    expect(lines[1]).toContain('%250A')
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
  })

  test('are at most ten of each kind, and the summary counts the rest', () => {
    const many = Array.from({ length: 10_000 }, () => result())

    const text = renderReport(report(many), 'github', place)

    expect(text.match(/^::warning/gm)).toHaveLength(10)
    expect(text).toContain('%0A9,990 more: --output json lists all')
  })

  test('name no file outside the checkout', () => {
    const text = renderReport(report([result({ file: '../a.csv' })]), 'github', place)

    expect(text).toContain('::warning title=The first rule.::looks wrong')
  })
})

describe('JUnit', () => {
  test('has a case for each rule, which fails when the command does', () => {
    const found = [result(), result({ rule: 'two', level: 'error', message: 'is wrong' })]

    expect(renderReport(report(found), 'junit', place).split('\n')).toEqual([
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<testsuites name="postern policy check" tests="2" failures="1" errors="0">',
      '  <testsuite name="policy check" tests="2" failures="1" errors="0">',
      '    <testcase classname="policy check" name="one">',
      '      <system-out>policies/policy.csv:3:4: looks wrong</system-out>',
      '    </testcase>',
      '    <testcase classname="policy check" name="two">',
      '      <failure message="policies/policy.csv:3:4: is wrong">policies/policy.csv:3:4: is wrong</failure>',
      '    </testcase>',
      '  </testsuite>',
      '</testsuites>',
      '',
    ])
    const strict = renderReport(report(found, { failsAt: 'warning' }), 'junit', place)
    expect(strict).toContain('tests="2" failures="2" errors="0"')
    const unanswered = renderReport(report(found, { isUnanswered: true }), 'junit', place)
    expect(unanswered).toContain('tests="2" failures="0" errors="1"')
  })

  test('has the suites of its command instead, and survives any text', () => {
    const cases = [
      { name: 'passes', className: 'c', file: 'x_test.yaml', line: 1 },
      { name: hostile, className: hostile, failures: [hostile, '<a&"b'] },
    ]

    const text = renderReport(
      report([], { suites: [{ name: 'x_test.yaml', cases }] }),
      'junit',
      place,
    )

    expect(text).toContain('<testsuite name="x_test.yaml" tests="2" failures="1" errors="0">')
    expect(text).toContain('<testcase classname="c" name="passes" file="x_test.yaml" line="1"/>')
    expect(text).toContain(']]&gt;')
    expect(text).toContain('\n&lt;a&amp;&quot;b</failure>')
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\ud800]|<script|\]\]>/u)
  })
})
