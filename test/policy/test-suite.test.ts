import { describe, expect, test } from 'vitest'
import type { Problem } from '../../src/kernel/errors.ts'
import { decide } from '../../src/policy/decide.ts'
import { coverageOf } from '../../src/policy/expectations/coverage.ts'
import { parseTestFile } from '../../src/policy/expectations/test-file.ts'
import { describeFailure, runExpectations } from '../../src/policy/expectations/test-suite.ts'
import { policies } from './policy-text.ts'

function parse(text: string) {
  const problems: Problem[] = []
  const expectations = parseTestFile({ name: 'x_test.yaml', text }, (each) => problems.push(each))
  return { expectations, problems }
}

const sound = '- { role: no, method: GET, path: /x, expect: allow }\n'

describe('a test file', () => {
  test('is a list of expectations, read as text', () => {
    const { expectations, problems } = parse(
      `# why\n${sound}- role: clerk\n  method: PUT\n  path: /y/7\n  expect: deny\n  step: none\n  reason: they only read\n  withoutRules: true\n`,
    )

    expect(problems).toEqual([])
    expect(expectations).toEqual([
      {
        ...{ role: 'no', method: 'GET', path: '/x', expect: 'allow', withoutRules: false },
        at: { file: 'x_test.yaml', line: 2, column: 3 },
      },
      {
        ...{ role: 'clerk', method: 'PUT', path: '/y/7', expect: 'deny', withoutRules: true },
        ...{ step: 'none', reason: 'they only read' },
        at: { file: 'x_test.yaml', line: 3, column: 3 },
      },
    ])
  })

  test.each([
    ['nothing in it', '# later\n', 1, 1],
    ['no list', 'role: x', 1, 1],
    ['an entry that is none', '- hello', 1, 3],
    ['YAML that is none', '- { role: x', 1, 12],
    ['an unknown key', sound.replace('expect', 'expects'), 1, 38],
    ['a value that is no text', sound.replace('no,', '[no],'), 1, 11],
    ['no role', sound.replace('role: no, ', ''), 1, 3],
    ['a role and none', sound.replace(' }', ', anonymous: true }'), 1, 11],
    ['a caller who is perhaps unknown', sound.replace('role: no', 'anonymous: no'), 1, 3],
    ['a method in small letters', sound.replace('GET', 'get'), 1, 23],
    ['a path that is not canonical', sound.replace('/x', '/%41'), 1, 34],
    ['a path that is refused', sound.replace('/x', '/a/../b'), 1, 34],
    ['a path with a query', sound.replace('/x', '/x?y=1'), 1, 34],
    ['an expectation that is neither', sound.replace('allow', 'allowed'), 1, 46],
    ['an unknown step', sound.replace(' }', ', step: rules }'), 1, 59],
    ['a flag that is none', sound.replace(' }', ', withoutRules: yes }'), 1, 67],
  ])('with %s is refused, with the place', (_, text, line, column) => {
    const { expectations, problems } = parse(text)

    expect(expectations).toEqual([])
    expect(problems).toMatchObject([{ file: 'x_test.yaml', line, column }])
  })

  test('may be about a caller without a token', () => {
    const { expectations, problems } = parse(sound.replace('role: no', 'anonymous: true'))

    expect(problems).toEqual([])
    expect(expectations).toMatchObject([{ method: 'GET', path: '/x', expect: 'allow' }])
    expect(expectations[0]).not.toHaveProperty('role')
  })

  test('says what the canonical form of a path is', () => {
    const [problem] = parse(sound.replace('/x', '/%41')).problems

    expect(problem?.message).toContain('"/A"')
  })
})

const compiled = policies({
  lines: ['p, clerk, /x, GET', 'p, clerk, /y/:id, GET', 'p, clerk, /z, GET'],
  exclusions: '- { method: GET, path: /me, reason: ones own }',
})

function run(...lines: readonly string[]) {
  const { expectations, problems } = parse(lines.map((line) => `- { ${line} }`).join('\n'))
  expect(problems).toEqual([])
  return runExpectations(expectations, ({ roleKey = '', ...call }) =>
    decide({ roleKey, ...call }, compiled),
  )
}

describe('running expectations', () => {
  test.each([
    [true, 'role: clerk, method: GET, path: /x, expect: allow'],
    [true, 'role: clerk, method: GET, path: /x, expect: allow, step: rule'],
    [true, 'role: clerk, method: PUT, path: /x, expect: deny, step: none'],
    [true, 'role: any, method: GET, path: /me, expect: allow, step: exclusion'],
    [true, 'role: admin, method: PUT, path: /x, expect: allow, step: admin'],
    [false, 'role: clerk, method: GET, path: /x, expect: deny'],
    [false, 'role: clerk, method: PUT, path: /x, expect: allow'],
    [false, 'role: clerk, method: GET, path: /me, expect: allow, step: rule'],
  ])('answers %s to %s', (passed, line) => {
    expect(run(line)).toMatchObject([{ passed }])
  })

  test('describes a failure with what decided instead, and why it matters', () => {
    const [outcome] = run('role: clerk, method: GET, path: /y/7, expect: deny, reason: secret')

    expect(outcome && describeFailure(outcome)).toBe(
      'clerk GET /y/7: expected deny, got allow by rule (policy.csv:2: GET /y/:id); secret',
    )
  })
})

describe('the coverage of a policy by its tests', () => {
  test('counts what decided a passing test, and lists the rest', () => {
    const outcomes = run(
      'role: clerk, method: GET, path: /x, expect: allow',
      'role: clerk, method: GET, path: /x, expect: allow',
      'role: clerk, method: GET, path: /z, expect: deny',
      'role: clerk, method: GET, path: /me, expect: allow',
    )

    const { rules, exclusions, percent } = coverageOf(compiled.set, outcomes)

    expect({ ...rules, undecided: rules.undecided.map(({ path }) => path) }).toEqual({
      ...{ total: 3, decided: 1, undecided: ['/y/:id', '/z'] },
    })
    expect(exclusions).toEqual({ total: 1, decided: 1, undecided: [] })
    expect(percent).toBe(50)
  })
})
