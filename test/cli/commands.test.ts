import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { Script } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { CommandSpec } from '../../src/cli/command.ts'
import { commands, groups } from '../../src/cli/commands/table.ts'
import { parseArguments } from '../../src/cli/parse-arguments.ts'
import { oldestNode, version } from '../../src/kernel/version.ts'
import { runCommand } from '../support/run-command.ts'

/** Every command of the table, internal ones included. */
const specs: readonly CommandSpec[] = [
  ...commands,
  ...(await Promise.all(groups.map((group) => group.commands()))).flat(),
].map(({ spec }) => spec)
const names = specs.map(({ name }) => [name] as const)
const groupNames = groups.map(({ name }) => [name] as const)

function specOf(name: string): CommandSpec {
  const spec = specs.find((each) => each.name === name)
  if (spec === undefined) throw new Error(`no command ${name}`)
  return spec
}

describe('the table of commands', () => {
  test('has each name once, in the group that its first word names', async () => {
    expect(new Set(specs.map(({ name }) => name)).size).toBe(specs.length)
    for (const group of groups) {
      for (const { spec } of await group.commands()) {
        expect(spec.name).toMatch(new RegExp(`^${group.name} [a-z]+$`))
      }
    }
  })

  test.each(names)('%s has a short option at most once, and no name of the parser', (name) => {
    const options = Object.entries(specOf(name).options)
    const shorts = options.flatMap(([, { short }]) => (short === undefined ? [] : [short]))

    expect(new Set(shorts).size).toBe(shorts.length)
    expect(shorts).not.toContain('h')
    expect(options.map(([each]) => each)).not.toContain('help')
  })

  test.each(names)('%s has examples that its parser accepts', (name) => {
    const spec = specOf(name)
    const lines = spec.examples.flatMap((line) => callsIn(line))
    const own = lines.filter((words) => words.join(' ').startsWith(name))

    for (const words of own) parseArguments(spec, words.slice(name.split(' ').length))
    if (name !== 'worker') expect(own).toHaveLength(spec.examples.length)
  })
})

/** The arguments of each `postern` in a line for a shell. */
function callsIn(line: string): readonly (readonly string[])[] {
  const words = [...line.matchAll(/'([^']*)'|([|<>#()]|&&)|([^\s'|<>()]+)/g)].map(
    ([, quoted, operator, plain]) => ({ operator, text: quoted ?? plain ?? '' }),
  )
  const starts = words.flatMap(({ text }, at) => (text === 'postern' ? [at] : []))
  return starts.map((start) => {
    const rest = words.slice(start + 1)
    const end = rest.findIndex(({ operator }) => operator !== undefined)
    return rest.slice(0, end === -1 ? undefined : end).map(({ text }) => text)
  })
}

describe('help', () => {
  test.each(names)(
    'of %s is the same in every spelling, on stdout, with exit code 0',
    async (name) => {
      const words = name.split(' ')
      const [first = '', second] = words
      const spellings = [
        [...words, '--help'],
        [...words, '-h'],
        [...words, '--nonsense', '--help'],
        ['help', ...words],
        ['--help', ...words],
        ...(second === undefined ? [[first, 'help']] : [[first, 'help', second]]),
        ...(second === undefined ? [] : [[first, '--help', second]]),
      ]

      const answers = await Promise.all(spellings.map((argv) => runCommand(argv)))

      for (const answer of answers) expect(answer).toEqual({ ...answers[0], code: 0, err: '' })
    },
  )

  test.each(names)(
    'of %s has usage, description, options, exit codes and examples',
    async (name) => {
      const { summary, options } = specOf(name)

      const { out } = await runCommand([...name.split(' '), '--help'])

      const parts = out.split('\n\n')
      expect(parts[0]).toMatch(new RegExp(`^Usage: postern ${name}\\b`))
      expect(summary).toMatch(/^[a-z].*[^.]$/)
      expect(parts[1]?.replaceAll('\n', ' ').toLowerCase()).toBe(`${summary.toLowerCase()}.`)
      for (const title of ['Options:', 'Exit codes:', 'Examples:'])
        expect(out).toContain(`\n${title}\n`)
      for (const [option, { description }] of Object.entries({ ...options, help: help })) {
        expect(out).toMatch(new RegExp(`^ +(?:-\\w, )?--${option}\\b`, 'm'))
        expect(description).toMatch(/^\S.*[^.]$/)
      }
      const beforeExamples = out.slice(0, out.indexOf('\nExamples:\n'))
      expect(beforeExamples.split('\n').filter((line) => line.length > 80)).toEqual([])
    },
  )

  const help = { description: 'show this help' }

  test.each(groupNames)('of the group %s lists its commands in every spelling', async (name) => {
    const group = groups.find((each) => each.name === name)
    const spellings = [
      [name, '--help'],
      [name, '-h'],
      [name, 'help'],
      ['help', name],
      ['-h', name],
    ]

    const answers = await Promise.all(spellings.map((argv) => runCommand(argv)))

    for (const answer of answers) expect(answer).toEqual({ ...answers[0], code: 0, err: '' })
    for (const { spec } of (await group?.commands()) ?? []) {
      expect(answers[0]?.out).toContain(`\n  ${spec.name.slice(name.length + 1)} `)
    }
  })

  test.each(groupNames)(
    'of the group %s goes to stderr with exit code 2 without a command',
    async (name) => {
      const { out } = await runCommand([name, '--help'])

      expect(await runCommand([name])).toEqual({ code: 2, out: '', err: out })
    },
  )

  test('of the program names every command but the internal ones', async () => {
    const answers = await Promise.all(
      [['help'], ['--help'], ['-h']].map((argv) => runCommand(argv)),
    )
    const [first] = answers

    for (const answer of answers) expect(answer).toEqual({ ...first, code: 0, err: '' })
    for (const [name] of names.filter(([each]) => each !== 'worker')) {
      expect(first?.out).toContain(`\n  ${name} `)
    }
    expect(first?.out).not.toContain('worker')
    expect(await runCommand([])).toEqual({ code: 2, out: '', err: first?.out })
  })
})

describe('a wrong command line', () => {
  const misspelled = (word: string) => `${word}${word.at(-1)}`
  const options = specs.flatMap(({ name, options: all }) =>
    Object.keys(all)
      .filter((option) => option.length > 3)
      .map((option) => [name, option] as const),
  )

  test.each(options)('of %s gets --%s suggested for a misspelling', async (name, option) => {
    const answer = await runCommand([...name.split(' '), `--${misspelled(option)}`])

    expect(answer).toMatchObject({ code: 2, out: '' })
    expect(answer.err).toContain(
      `postern: unknown option --${misspelled(option)}; did you mean --${option}?\nUsage: `,
    )
  })

  test.each(names.filter(([name]) => name.includes(' ')))(
    'gets %s suggested for a misspelled second word',
    async (name) => {
      const [first = '', second = ''] = name.split(' ')

      const { code, err } = await runCommand([first, misspelled(second)])

      expect(code).toBe(2)
      // Three letters are too few to guess from.
      if (second.length > 3) expect(err).toContain(`; did you mean ${name}?\nRun "postern ${first}`)
    },
  )

  test.each([
    [['polciy'], 'postern: unknown command "polciy"; did you mean policy?\n'],
    [['sevre'], 'postern: unknown command "sevre"; did you mean serve?\n'],
    [['push'], 'postern: unknown command "push"; did you mean policy push?\n'],
    [['check'], 'postern: unknown command "check"; did you mean config check or policy check?\n'],
    [['policy-push'], 'postern: unknown command "policy-push"; did you mean policy push?\n'],
    [['user', 'ad'], 'postern: unknown command "user ad"; did you mean user add?\n'],
    [['nonsense'], 'postern: unknown command "nonsense"\n'],
    [['help', 'polciy'], 'postern: unknown command "polciy"; did you mean policy?\n'],
    [
      ['help', 'policy', 'psuh'],
      'postern: unknown command "policy psuh"; did you mean policy push?\n',
    ],
    [['help', 'serve', 'x'], 'postern: unknown command "serve x"'],
    [['\u001b[2J'], 'postern: unknown command "\\u{1b}[2J"\n'],
    [['--verison'], 'postern: unknown option --verison; did you mean --version?\n'],
    [
      ['--confg', 'x', 'serve'],
      'postern: option --confg comes before a command: write it after the command\n',
    ],
    [
      ['policy', 'status', '--gatewy', 'https://gw'],
      'postern: unknown option --gatewy; did you mean --gateway?\n',
    ],
    [
      ['policy', 'check', '-output', 'json'],
      'postern: unknown option -output; did you mean --output?\n',
    ],
    [['user', '--output', 'json'], 'postern: missing command after "user"\n'],
    [['user', '--hlep'], 'postern: unknown option --hlep; did you mean --help?\n'],
    [
      ['policy', 'check', '--json'],
      'postern: unknown option --json; did you mean --output json?\n',
    ],
    [
      ['policy', 'check', '--output', 'jsno'],
      '"jsno" is not valid, use text, json, junit, sarif, markdown or github; did you mean json?\n',
    ],
    [['policy', 'check', '--strict=yes'], 'postern: --strict does not take a value\n'],
    [['policy', 'check', '--config'], 'postern: --config needs a value: --config FILE\n'],
    [['serve', '--config='], 'postern: --config needs a value: --config FILE\n'],
    [
      ['policy', 'check', '--config', '--strict'],
      'postern: --config needs a value: --config FILE\n',
    ],
    [['policy', 'explain', 'a'], 'postern: missing arguments METHOD PATH\n'],
    [['policy', 'check', 'a', 'b'], 'postern: too many arguments: expected DIR\n'],
    [['policy', 'status', 'a'], 'postern: too many arguments: expected none\n'],
    [
      ['policy', 'history', '--limit', '1.5'],
      '-limit: "1.5" is not a whole number of at least 1\n',
    ],
    [['token', 'revoke'], 'postern: nothing to revoke: give --token, --id or --user\n'],
  ])('%j is explained', async (argv, message) => {
    const { code, out, err } = await runCommand(argv)

    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(message)
    expect(err).toMatch(
      /^postern: [^\n]+\n(?:Usage: [^\n]+\n(?: {7}[^\n]+\n)*)?Run "postern[^"]*--help" for [^\n]+\n$/,
    )
  })

  test('never shows an argument too many: it may be a token or a password', async () => {
    const { err } = await runCommand(['user', 'passwd', 'alice', 'hunter2-hunter2'])

    expect(err).not.toContain('hunter2')
  })
})

describe('postern version', () => {
  test.each([['version'], ['--version'], ['-V']])(
    '%s prints what a bug report needs',
    async (word) => {
      const { code, out, err } = await runCommand([word], { env: pathOnly })

      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(out).toBe(
        [
          `version   ${version}\n`,
          `commit    ${/^commit +(.+)$/m.exec(out)?.[1]}\n`,
          `node      ${process.versions.node}\n`,
          `platform  ${process.platform}-${process.arch}\n`,
        ].join(''),
      )
    },
  )

  test('prints the same as JSON, and the commit of the checkout or "unknown"', async () => {
    const { out } = await runCommand(['version', '--output', 'json'], { env: pathOnly })

    expect(JSON.parse(out)).toEqual({
      version,
      commit: expect.stringMatching(/^(?:[0-9a-f]{40}(?:-dirty)?|unknown)$/),
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
    })
  })

  test('reports an unknown commit without git', async () => {
    const { code, out } = await runCommand(['version'], { env: { PATH: '/nonexistent' } })

    expect(code).toBe(0)
    expect(out).toContain('commit    unknown\n')
  })

  const pathOnly = { PATH: process.env['PATH'] ?? '' }
})

describe('the start of the program', () => {
  test('loads the command line alone: no store, no server, no configuration', () => {
    const loaded = new Set<string>()
    const waiting = [...program, ...groups.map(({ name }) => groupFiles[name] ?? '')]
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (loaded.has(file)) continue
      loaded.add(file)
      const text = readFileSync(file, 'utf8')
      for (const [, from = ''] of text.matchAll(
        /^(?:import|export) (?!type\b)[^'"]*?from '(\.[^']+)'/gms,
      )) {
        waiting.push(relative('.', join(dirname(file), from)))
      }
    }

    const allowed =
      /^src\/main\.ts$|^src\/kernel\/(?:version|errors|untraced-error|suggest|count|printable)\.ts$|^src\/operations\/(?:declined|failure|input|invalid-input|operation|schema|[a-z]+\/(?:[a-z-]+-)?descriptions|([a-z]+)\/\1|(?:policy|publish)\/(?:fields|schemas))\.ts$|^src\/config\/schema\/type\.ts$|^src\/cli\/[^/]+\.ts$|^src\/cli\/(?:commands|help-texts)\/|^src\/serve\/programs\/programs\.ts$|[-/]specs\.ts$/
    expect([...loaded].filter((file) => !allowed.test(file))).toEqual([])
    expect(loaded).not.toContain('src/operations/policy-settings.ts')
  })

  const program = [
    'src/main.ts',
    'src/cli/commands/dispatch.ts',
    'src/cli/process-io.ts',
    'src/serve/programs/programs.ts',
  ]

  const groupFiles: Readonly<Record<string, string>> = {
    config: 'src/cli/commands/config.ts',
    policy: 'src/cli/commands/policy.ts',
    user: 'src/cli/commands/accounts.ts',
    role: 'src/cli/commands/roles.ts',
    service: 'src/cli/commands/services.ts',
    token: 'src/cli/commands/accounts.ts',
    db: 'src/cli/commands/accounts.ts',
    login: 'src/cli/commands/logins.ts',
    audit: 'src/cli/commands/audit.ts',
    session: 'src/cli/commands/sessions.ts',
    keys: 'src/cli/commands/keys.ts',
    gateway: 'src/cli/commands/gateway.ts',
  }

  test.each(['16.20.2', '22.18.0'])('on Node %s says in one line that it is too old', (node) => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '${node}' })`
    const args = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, 'src/main.ts']

    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })

    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toBe(
      `postern: Node ${node} is too old: install Node ${oldestNode} or a later version\n`,
    )
  })

  test('can be read by an old Node, which knows neither modules nor newer syntax', () => {
    const text = stripTypeScriptTypes(readFileSync('src/main.ts', 'utf8'))
    const code = text.replaceAll(/\/\/.*|\/\*[\s\S]*?\*\//g, '')

    // A script: no import statement, no await outside of functions.
    expect(() => new Script(text)).not.toThrow()
    // Of 2018 and later: ?? and ?., ** and catch without a name, spread in objects, private names.
    expect(code).not.toMatch(/\?\?|\?\.|\*\*|catch \{|[{,]\s*\.\.\.|#\w|\d_\d|\bstatic\b/)
  })

  test('passes arguments, streams and exit code through', async () => {
    const run = promisify(execFile)
    const help = await run(process.execPath, ['src/main.ts', 'policy', 'push', '-h'])
    const wrong = await run(process.execPath, ['src/main.ts', 'policy', 'psuh']).catch(
      (error) => error,
    )

    expect(help.stdout).toMatch(/^Usage: postern policy push /)
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
    expect(wrong.stderr).toContain('did you mean policy push?')
  })
})
