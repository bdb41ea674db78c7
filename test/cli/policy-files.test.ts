import { describe, expect, test } from 'vitest'
import { consoleFiles } from '../support/console-policy.ts'
import { folder, policy } from './policy-runner.ts'

describe('postern policy files', () => {
  test('prints the files of the directory that the gateway loads, and its tests if asked', async () => {
    const cwd = await folder(consoleFiles)

    const { code, out } = await policy(['files', '--output', 'json'], { cwd })
    const printed = JSON.parse(out)

    expect(code).toBe(0)
    expect(printed.policy).toBe('policies')
    expect(printed.revision).toMatch(/^r-[0-9a-f]{12,}$/)
    expect(printed.files).toEqual([
      { name: 'model.conf', text: consoleFiles['policies/model.conf'] },
      { name: 'policy.csv', text: consoleFiles['policies/policy.csv'] },
    ])
    const tested = await policy(['files', '--tests', '--output', 'json'], { cwd })
    expect(JSON.parse(tested.out).files.at(-1)).toEqual({
      name: 'tests/orders_test.yaml',
      text: consoleFiles['policies/tests/orders_test.yaml'],
    })
  })

  test('prints a policy that is not valid, without a revision', async () => {
    const cwd = await folder({ ...consoleFiles, 'policies/policy.csv': 'p, clerk\n' })

    const { code, out } = await policy(['files', 'policies', '--output', 'json'], { cwd })

    expect([code, JSON.parse(out).revision]).toEqual([0, null])
    expect(JSON.parse(out).files[1].text).toBe('p, clerk\n')
  })

  test('sends no control character to the terminal', async () => {
    const cwd = await folder({
      ...consoleFiles,
      'policies/policy.csv': '# \u001b[2J\np, clerk, /orders, GET',
    })

    const { out } = await policy(['files'], { cwd })

    expect(out).toContain('==> policy.csv <==\n# \\u{1b}[2J\np, clerk, /orders, GET\n')
    expect(out).not.toContain('\u001b')
  })
})

describe('a YAML file that is nested too deeply', () => {
  test.for([
    ['exclusions.yaml', '['.repeat(20_000)],
    ['tests/deep_test.yaml', '- '.repeat(20_000)],
    ['tests/orders_test.yaml', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ] as const)('is one message: %s', async ([name, text]) => {
    const cwd = await folder({ ...consoleFiles, [`policies/${name}`]: text })

    const { code, out } = await policy(['check', '--output', 'json'], { cwd })

    expect(code).toBe(3)
    expect(JSON.parse(out).errors).toEqual([
      {
        file: `policies/${name}`,
        line: 1,
        message: 'lists or mappings are nested too deeply: remove the inner ones',
      },
    ])
  })
})
