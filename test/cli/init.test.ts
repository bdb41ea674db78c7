import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { configJsonSchema } from '../../src/config/schema/json-schema.ts'
import { type RunOptions, runCommand } from '../support/run-command.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'postern-init-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

async function emptyDirectory(): Promise<string> {
  return mkdtemp(join(root, 'project-'))
}

function init(cwd: string, args: readonly string[], options: RunOptions = {}) {
  return runCommand(['init', ...args], { cwd, ...options })
}

/** What must be true of every project. */
async function expectSound(
  cwd: string,
  env: Readonly<Record<string, string>>,
  file: string,
  warned: unknown = '',
) {
  const check = await runCommand(['config', 'check', file], { cwd, env })
  const policy = await runCommand(['policy', 'check', 'policies', '--strict'], { cwd, env })
  const tests = await runCommand(['policy', 'test', 'policies'], { cwd, env })

  expect(check).toMatchObject({ code: 0, err: warned })
  expect(policy).toMatchObject({ code: 0 })
  expect(tests).toMatchObject({ code: 0 })
}

/** Only the reader knows the proxy or the ingress controller. */
const warned = expect.stringMatching(/^[^\n]*list the TLS proxy in front[^\n]*\n$/)

describe('postern init', () => {
  test('writes a project whose files are sound, with an account and a key', async () => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, '.gitignore'), 'node_modules/\n/data/')
    const { code, out } = await init(cwd, ['--user', "o'neil", '--port', '34701'])

    expect({ code }).toEqual({ code: 0 })
    expect(await readFile(join(cwd, '.gitignore'), 'utf8')).toBe(
      'node_modules/\n/data/\n# Secrets, keys and the database of Postern.\nkeys/\nsecrets/\n',
    )
    expect((await readdir(cwd)).toSorted()).toEqual([
      '.gitignore',
      'data',
      'keys',
      'policies',
      'postern.schema.json',
      'postern.yaml',
      'secrets',
    ])
    await expectSound(cwd, {}, 'postern.yaml')
    const users = await runCommand(['user', 'list', '--output', 'json'], { cwd })
    expect(JSON.parse(users.out)).toMatchObject([{ username: "o'neil", roleKey: 'member' }])
    expect(await readFile(join(cwd, 'postern.yaml'), 'utf8')).toMatch(
      /^# yaml-language-server: \$schema=\.\/postern\.schema\.json\n/,
    )
    expect(await readFile(join(cwd, 'postern.schema.json'), 'utf8')).toBe(configJsonSchema())
    expect(out).toContain(`'{"username":"o'\\''neil","password":"'"$(cat secrets/password)"'"`)
    await expectPrivate(cwd, out)
  })

  test('writes nothing where one of its files is, and names it', async () => {
    const cwd = await emptyDirectory()
    await mkdir(join(cwd, 'policies'))
    await writeFile(join(cwd, 'postern.yaml'), 'mine')

    expect(await init(cwd, [])).toEqual({
      code: 1,
      out: '',
      err: 'postern: postern.yaml, policies already exist in .: init overwrites nothing; name another directory\n',
    })
    expect((await readdir(cwd)).toSorted()).toEqual(['policies', 'postern.yaml'])
    expect(await readFile(join(cwd, 'postern.yaml'), 'utf8')).toBe('mine')
  })

  test('leaves nothing behind when the result would not be valid', async () => {
    const cwd = await emptyDirectory()
    const { code, err } = await init(cwd, ['shop', '--upstream', 'http://127.0.0.1:8000'])

    expect({ code, err }).toMatchObject({ code: 3 })
    expect(err).toMatch(/^postern\.yaml:\d+:\d+: upstreams\.app\.targets\[0\]: .* is this gateway/)
    expect(await readdir(cwd)).toEqual([])
  })

  test.each([
    ['--upstream', 'ftp://a', 'is not the address of a service'],
    ['--upstream', 'http://a:1/path', 'is not the address of a service'],
    ['--user', ' ada', 'must not contain'],
    ['--role', 'a,b', 'cannot be a role key'],
    ['--role', 'admin', 'admin skips the permission check'],
    ['--template', 'maximal', 'minimal'],
  ])('takes no %s %s', async (option, value, message) => {
    const cwd = await emptyDirectory()
    const { code, err } = await init(cwd, [option, value])

    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) })
    expect(await readdir(cwd)).toEqual([])
  })

  test('takes no common password from stdin', async () => {
    const cwd = await emptyDirectory()
    const { code } = await init(cwd, ['--password-stdin'], { stdin: 'password1\n' })

    expect(code).toBe(2)
    expect(await readdir(cwd)).toEqual([])
  })

  test('asks on a terminal until the answers are usable, and writes nothing after Ctrl-C', async () => {
    const cwd = await emptyDirectory()
    const password = 'a long walk in the rain'
    const answers = ['nonsense', 'http://127.0.0.1:34702/', '', 'short', password, 'another']
    const { code, out, err } = await init(cwd, [], { types: async () => answers.shift() })

    expect({ code, answers }).toEqual({ code: 1, answers: [] })
    expect(err).toBe(`Address of your service [http://127.0.0.1:3000]: \
"nonsense" is not the address of a service: write scheme, host and port, such as http://127.0.0.1:3000
Address of your service [http://127.0.0.1:3000]: Name of your account [ada]: \
Password of ada (empty: generate one): the password must have 8 to 72 bytes
Password of ada (empty: generate one): Repeat the password: the two passwords differ
Password of ada (empty: generate one): postern: nothing was written: the questions were not answered
`)
    expect(out).toBe('')
    expect(await readdir(cwd)).toEqual([])
  })

  test('go-admin: the shipped configuration with a secret of its own', async () => {
    const cwd = await emptyDirectory()
    const { code, out } = await init(cwd, ['sub', '--template', 'go-admin'])
    const project = join(cwd, 'sub')

    expect({ code }).toEqual({ code: 0 })
    const text = await readFile(join(project, 'postern.yaml'), 'utf8')
    const shipped = parse(await readFile('config/go-admin.yaml', 'utf8'))
    expect(parse(text)).toMatchObject({ routes: shipped.routes, policy: { directory: 'policies' } })
    expect(text).not.toContain('config/go-admin.yaml')
    await expectSound(
      project,
      {
        POSTERN_JWT__SECRET_FILE: 'secrets/jwt-secret',
        POSTERN_DATABASE__URL_FILE: 'secrets/database-url',
      },
      'postern.yaml',
      warned,
    )
    expect(out).toContain('\ncd sub\n')
    await expectPrivate(project, out)
  })

  test('kubernetes: values whose configuration a gateway takes', async () => {
    const cwd = await emptyDirectory()
    const { code, out } = await init(cwd, ['--template', 'kubernetes'])

    expect({ code }).toEqual({ code: 0 })
    const values = parse(await readFile(join(cwd, 'values.yaml'), 'utf8'))
    await writeFile(join(cwd, 'postern.yaml'), stringify(values.config))
    const env = { POSTERN_JWT__SECRET_FILE: 'secrets/jwt-secret' }
    await expectSound(cwd, env, 'postern.yaml', warned)
    expect(out).toContain(
      `--set-file 'policy.files.tests/policy_test\\.yaml=policies/tests/policy_test.yaml'`,
    )
    await expectPrivate(cwd, out)
  })
})

/** Secrets are in files that only their owner reads and Git ignores, and nowhere in the output. */
async function expectPrivate(cwd: string, out: string): Promise<void> {
  const ignored = (await readFile(join(cwd, '.gitignore'), 'utf8')).split('\n')
  for (const folder of ['keys', 'secrets']) {
    const names = await readdir(join(cwd, folder)).catch(() => [])
    if (names.length > 0) expect(ignored).toContain(`${folder}/`)
    for (const name of names) {
      const file = join(cwd, folder, name)
      expect({ file, mode: (await stat(file)).mode & 0o777 }).toEqual({ file, mode: 0o600 })
      expect(out).not.toContain((await readFile(file, 'utf8')).trim())
    }
  }
}
