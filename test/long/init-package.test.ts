import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { installPacked, succeed, userEnvironment } from '../support/packed-package.ts'
import { findOldNodes } from '../support/services/find-old-node.ts'
import { until } from '../support/until.ts'

describe('the packed npm package', () => {
  let root: string
  let app: string
  let installed: string
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'postern-packed-'))
    app = await installPacked(root)
    installed = join(app, 'node_modules', 'postern')
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  test('has types, documentation, samples and the chart, and no maps without sources', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })

    expect(files).toEqual(
      expect.arrayContaining([
        'CHANGELOG.md',
        'dist/login/captcha/speech-samples.json',
        'dist/login/methods/module/contract.d.ts',
        'dist/login/passwords/common-passwords.txt',
        'docs/commands.md',
        'helm/postern/Chart.yaml',
        'man/postern.1',
        'samples/nginx/postern.conf',
      ]),
    )
    expect(files.filter((name) => name.endsWith('.map'))).toEqual([])
  })

  test('has no dead links in its pages', () => {
    const pages = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.md') && !name.includes('node_modules'),
    )
    const dead = pages.flatMap((page) => {
      const text = readFileSync(join(installed, page), 'utf8')
      const prose = text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
      return [...prose.matchAll(/\]\((?<to>[^)\s#]+)[^)\s]*\)/g)]
        .map(({ groups }) => groups?.['to'] ?? '')
        .filter((to) => !/^(?:https?|mailto):/.test(to))
        .filter((to) => !existsSync(resolve(installed, dirname(page), to)))
        .map((to) => `${page}: ${to}`)
    })

    expect(pages.length).toBeGreaterThan(40)
    expect(dead).toEqual([])
  })

  test('says on an old Node in one line which one it needs', () => {
    const nodes = findOldNodes()
    if (nodes === undefined) {
      console.warn('left out: the package on old versions of Node; npm has none for this machine')
      return
    }
    const answers = nodes.map((node) => {
      const args = [join(installed, 'dist', 'main.js'), 'version']
      const { status, stdout, stderr } = spawnSync(node, args, { encoding: 'utf8' })
      return { status, stdout, stderr }
    })

    const said = (node: string) => ({
      status: 1,
      stdout: '',
      stderr: `postern: Node ${node} is too old: install Node 22.19 or a later version\n`,
    })
    expect(answers).toEqual(['10.24.1', '12.22.12', '14.21.3'].map(said))
  })

  /** A gateway by `npx postern serve` in this directory; resolves when it listens. */
  async function serve(cwd: string): Promise<void> {
    const env = { ...userEnvironment(), POSTERN_OPS__PORT: '24729' }
    // A group of its own: npx passes no signal on.
    const child = spawn('npx', ['postern', 'serve'], { cwd, env, detached: true })
    const closed = new Promise((resolve) => child.once('close', resolve))
    onTestFinished(async () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
      await closed
    })
    let log = ''
    child.stdout.on('data', (chunk) => (log += chunk))
    child.stderr.on('data', (chunk) => (log += chunk))
    await until(() => {
      if (child.exitCode !== null) throw new Error(log)
      return log.includes('"listening"')
    })
  }

  /** The commands of a section of the next steps. */
  function commandsAfter(out: string, comment: RegExp): string {
    const section = out.split('\n\n').find((each) => comment.test(each)) ?? ''
    return section.replace(/^#.*\n/gm, '')
  }

  test('starts in an empty directory, and what init prints logs in and calls the service', async () => {
    const service = createServer(({ method, headers }, response) => {
      response.end(`${method} by ${headers['x-user-name']} as ${headers['x-role-key']}`)
    })
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void service.close())
    const { port } = service.address() as AddressInfo
    const upstream = `http://127.0.0.1:${port}`

    const args = ['postern', 'init', '--upstream', upstream, '--port', '24720', '--user', 'ada']
    const out = await succeed('npx', args, app)
    await serve(app)
    const logIn = commandsAfter(out, /^# in another terminal: log in/)
    const read = commandsAfter(out, /^# role member may read/)
    const remove = commandsAfter(out, /^# and nothing else/)

    expect(await succeed('bash', ['-c', `${logIn}\n${read}`], app)).toMatch(
      /^HTTP\/1\.1 200 OK[\s\S]*GET by ada as member$/,
    )
    expect(await succeed('bash', ['-c', `${logIn}\n${remove}`], app)).toContain('"code":401')
    expect(await succeed('npx', ['postern', 'policy', 'test'], app)).toContain('0 failed')
  })

  test('forward-auth: what init prints asks as nginx does', async () => {
    const project = join(app, 'beside-nginx')
    const args = ['postern', 'init', project, '--template', 'forward-auth', '--port', '24721']
    const out = await succeed('npx', args, app)
    await serve(project)
    const logIn = commandsAfter(out, /^# in another terminal: log in/)
    const ask = commandsAfter(out, /^# ask as nginx does/)
    const askMore = commandsAfter(out, /^# and 403/)

    expect(await succeed('bash', ['-c', `${logIn}\n${ask}`], project)).toMatch(
      /^HTTP\/1\.1 200 OK[\s\S]*x-role-key: member/i,
    )
    expect(await succeed('bash', ['-c', `${logIn}\n${askMore}`], project)).toMatch(
      /^HTTP\/1\.1 403 /,
    )
    const proxies = commandsAfter(out, /^# configure your proxy/)
    expect(await succeed('bash', ['-c', proxies], project)).toContain('Caddyfile')
  })

  test('on a terminal, a typed password is not shown', async () => {
    if (spawnSync('python3', ['-c', 'import pty']).status !== 0) {
      console.warn('skipped: python3 is needed for a terminal')
      return
    }
    const project = join(root, 'typed')
    const password = 'a long walk in the rain'
    const answers = [
      ...['3000]: ', 'http://127.0.0.1:4000', 'account [', 'grace'],
      ...['generate one): ', password, 'Repeat the password: ', password],
    ]
    const program = [process.execPath, join(installed, 'dist/main.js'), 'init', project]
    const script = resolve('test/support/terminal.py')
    const shown = await succeed('python3', [script, ...answers, '--', ...program])

    expect(shown).toContain('account grace with role member')
    expect(shown).not.toContain(password)
    const config = join(project, 'postern.yaml')
    const users = await succeed('npx', ['postern', 'user', 'list', '--config', config], app)
    expect(users).toMatch(/\bgrace\b.*\bmember\b/)
  })
})
