import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommandSpec } from '../../src/cli/command.ts'
import { commandSet } from '../../src/cli/commands/table.ts'
import { runCommand } from '../support/run-command.ts'
import { offered, type Shell, shellMissing } from '../support/shells.ts'

const set = await commandSet()
const specs: readonly CommandSpec[] = [
  ...set.commands,
  ...set.groups.flatMap((group) => group.commands),
]
const common = Object.keys(set.common)

describe.each<Shell>(['bash', 'zsh', 'fish'])('%s completes', (shell) => {
  const why = shellMissing(shell)
  if (why !== undefined) console.warn(`left out: completion in ${shell}; ${why}`)

  let directory = ''
  const complete = async (lines: readonly string[]) => {
    const { out } = await runCommand(['completion', shell])
    return offered(shell, out, lines, directory)
  }

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'postern-completion-'))
    for (const name of ['keys', 'policies']) mkdirSync(join(directory, name))
    for (const name of ['postern.yaml', 'production.yaml', 'my notes.txt'])
      writeFileSync(join(directory, name), '')
  })

  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  test.skipIf(why !== undefined)('words, options, values, files and directories', async () => {
    const top = [...set.commands, ...set.groups].map(({ name }) => name)
    const expected: Readonly<Record<string, readonly string[]>> = {
      'postern ': [...top, 'help'],
      'postern comp': ['completion'],
      'postern policy p': ['promote', 'proposals', 'propose', 'pull', 'push'],
      'postern help ': top,
      'postern help keys ': ['generate', 'list', 'use'],
      'postern nonsense ': [],
      'postern --gateway http://127.0.0.1:9200 session ': ['end', 'list'],
      'postern session --config postern.yaml ': ['end', 'list'],
      'postern policy check --str': ['--strict'],
      'postern policy check --output s': ['sarif'],
      'postern policy check --output=s': ['sarif'],
      'postern policy check --output=sarif --conf': ['--config'],
      'postern serve --config p': ['policies', 'postern.yaml', 'production.yaml'],
      'postern serve --config=post': ['postern.yaml'],
      'postern config check my': ['my notes.txt'],
      'postern policy coverage postern.yaml prod': ['production.yaml'],
      'postern policy check ': ['keys', 'policies'],
      'postern policy diff ': ['keys', 'live', 'policies'],
      'postern policy diff git:main l': ['live'],
      'postern policy push --message why k': ['keys'],
      'postern policy push -m why k': ['keys'],
      'postern policy import ': ['database', 'redis'],
      'postern policy import redis ': ['keys', 'policies'],
      'postern keys generate --alg E': ['ES256', 'EdDSA'],
      'postern user add ': [],
      'postern user add --role ': [],
      'postern completion ': ['bash', 'fish', 'zsh'],
    }

    const answers = await complete(Object.keys(expected))

    const rows = Object.keys(expected).map((line, at) => [line, answers[at]] as const)
    const sorted = Object.entries(expected).map(([line, words]) => [line, words.toSorted()])
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(sorted))
  })

  test.skipIf(why !== undefined)('the options of every command', async () => {
    const answers = await complete(specs.map(({ name }) => `postern ${name} --`))

    const rows = specs.map(({ name }, at) => [name, answers[at]] as const)
    const expected = specs.map(({ name, options }) => {
      const names = new Set([...Object.keys(options), ...common, 'help'])
      return [name, [...names].map((option) => `--${option}`).toSorted()] as const
    })
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(expected))
  })

  test.skipIf(why !== undefined)('every fixed list of values', async () => {
    const lists = specs.flatMap(({ name, options }) =>
      Object.entries(options).flatMap(([option, { choices }]) =>
        choices === undefined ? [] : [[`postern ${name} --${option} `, choices] as const],
      ),
    )

    const answers = await complete(lists.map(([line]) => line))

    const rows = lists.map(([line], at) => [line, answers[at]] as const)
    const expected = lists.map(([line, choices]) => [line, choices.toSorted()] as const)
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(expected))
  })
})

test.skipIf(shellMissing('bash') !== undefined)(
  'bash without compopt, as before version 4, completes files and directories',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'postern-completion-'))
    try {
      mkdirSync(join(directory, 'policies'))
      writeFileSync(join(directory, 'postern.yaml'), '')
      const { out } = await runCommand(['completion', 'bash'])
      const lines = [
        'postern serve --config po',
        'postern serve --config=po',
        'postern policy diff ',
      ]

      const answers = await offered('bash', `enable -n compopt\n${out}`, lines, directory)

      expect(answers).toEqual([
        ['policies', 'postern.yaml'],
        ['policies', 'postern.yaml'],
        ['live', 'policies'],
      ])
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  },
)

describe('postern completion', () => {
  test('names the shells when none is given, or another one', async () => {
    const none = await runCommand(['completion'])
    const other = await runCommand(['completion', 'powershell'])

    expect(none).toMatchObject({ code: 2, out: '' })
    expect(none.err).toContain('missing argument SHELL')
    expect(other).toMatchObject({ code: 2, out: '' })
    expect(other.err).toContain('"powershell" is not valid, use bash, zsh or fish')
  })

  test('does not offer commands that only Postern calls', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      expect((await runCommand(['completion', shell])).out).not.toContain('worker process')
    }
  })

  test('runs on this machine when a startup file has set POSTERN_GATEWAY before', async () => {
    const env = { POSTERN_GATEWAY: 'https://console.example.com' }

    const { code, out, err } = await runCommand(['completion', 'bash'], { env })

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toBe((await runCommand(['completion', 'bash'])).out)
  })
})
