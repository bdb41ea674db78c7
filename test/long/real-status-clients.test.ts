import { execFile, execFileSync } from 'node:child_process'
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'postern-clients-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Neither the settings nor the credentials of the person who runs the test. */
function environmentIn(home: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    npm_config_cache: join(home, 'cache'),
    npm_config_update_notifier: 'false',
    npm_config_fetch_retries: '0',
    no_proxy: '*',
  }
}

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

function run(home: string, program: string, ...args: readonly string[]): Promise<Ended> {
  const options = { cwd: home, env: environmentIn(home), timeout: 240_000 }
  return new Promise((resolve) => {
    execFile(program, args, options, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), out, err })
    })
  })
}

/** A repository with one commit, served as plain files: Git's oldest protocol needs no program. */
async function serveRepository(home: string): Promise<string> {
  const git = (cwd: string, ...args: readonly string[]) =>
    execFileSync('git', args, { cwd, env: environmentIn(home), stdio: 'pipe' })
  git(home, 'init', '--quiet', '--initial-branch=main', 'work')
  const work = join(home, 'work')
  writeFileSync(join(work, 'hello.txt'), 'hello\n')
  git(work, 'add', '.')
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  git(work, ...author, 'commit', '--quiet', '-m', 'first')
  git(home, 'clone', '--quiet', '--bare', 'work', 'shop.git')
  git(join(home, 'shop.git'), 'update-server-info')

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost')
    const file = createReadStream(join(home, pathname))
    file.on('error', () => response.writeHead(404).end())
    file.pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function startWith(status: 'envelope' | 'real', target: string) {
  const postern = await startPostern({
    rules: ['editor, /shop.git/*, GET'],
    config: { refusals: { status }, upstreams: { git: { targets: [target] } } },
    routes: [{ path: '/', upstream: 'git' }],
  })
  return `http://127.0.0.1:${postern.publicPort}`
}

const bearer = (role: string) => `Authorization: Bearer ${tokenOf(role)}`

describe('refusals.status: real, with clients that read only the status', () => {
  test('git clone fails without a token or permission, and clones with them', async () => {
    const home = scratchDirectory()
    const origin = await startWith('real', await serveRepository(home))
    const clone = (name: string, ...headers: readonly string[]) => {
      const options = headers.flatMap((header) => ['-c', `http.extraHeader=${header}`])
      return run(home, 'git', ...options, 'clone', `${origin}/shop.git`, name)
    }

    const without = await clone('without')
    const expired = await clone('expired', `Authorization: Bearer ${tokenOf('editor', { exp: 1 })}`)
    const denied = await clone('denied', bearer('viewer'))
    const allowed = await clone('allowed', bearer('editor'))

    expect([without.code, expired.code, denied.code, allowed.code]).toEqual([128, 128, 128, 0])
    expect(without.err).toMatch(/could not read Username/)
    expect(denied.err).toMatch(/error: 403/)
    expect(readFileSync(join(home, 'allowed', 'hello.txt'), 'utf8')).toBe('hello\n')
  })

  test('git clone cannot tell why the envelope refuses, which is why the setting exists', async () => {
    const home = scratchDirectory()
    const origin = await startWith('envelope', await serveRepository(home))

    const misled = await run(home, 'git', 'clone', `${origin}/shop.git`, 'misled')

    expect(misled).toMatchObject({ code: 128, err: expect.stringContaining('not valid') })
    expect(misled.err).not.toMatch(/401|Username|log in/)
  })

  test('curl -f reports the refusal, and still prints the body with --fail-with-body', async () => {
    const home = scratchDirectory()
    const target = await serveRepository(home)
    const [real, envelope] = await Promise.all([
      startWith('real', target),
      startWith('envelope', target),
    ])
    const curl = (...args: readonly string[]) => run(home, 'curl', '-sS', ...args)

    expect(await curl('-f', `${real}/shop.git/HEAD`)).toMatchObject({ code: 22, out: '' })
    expect(await curl('--fail-with-body', `${real}/shop.git/HEAD`)).toMatchObject({
      code: 22,
      out: '{"code":401,"msg":"please log in"}\n',
    })
    expect(await curl('-f', '-H', bearer('editor'), `${real}/shop.git/HEAD`)).toMatchObject({
      code: 0,
      out: 'ref: refs/heads/main\n',
    })
    expect(await curl('-f', `${envelope}/shop.git/HEAD`)).toMatchObject({ code: 0 })
  })

  test('npm names the status', async () => {
    const home = scratchDirectory()
    const origin = await startWith('real', await serveRepository(home))
    const { host } = new URL(origin)
    const view = (...args: readonly string[]) =>
      run(home, 'npm', 'view', 'lantern', `--registry=${origin}/`, ...args)

    const without = await view()
    const denied = await view(`--//${host}/:_authToken=${tokenOf('viewer')}`)

    expect([without.code, denied.code]).toEqual([1, 1])
    expect(without.err).toMatch(/E401/)
    expect(denied.err).toMatch(/E403/)
  })
})
