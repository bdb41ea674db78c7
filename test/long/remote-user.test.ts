import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/redis-server.ts'
import { fetchWithPip } from '../support/services/fetch-with-pip.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const version = '3.9.0'
const home = fetched()
if (home === undefined) {
  console.warn(`skipped: an application that reads Remote-User; pip finds no radicale ${version}`)
}

function fetched(): string | undefined {
  try {
    return fetchWithPip('radicale', version)
  } catch {
    return undefined
  }
}

/** Radicale trusts the name in X-Remote-User, as many applications made for other proxies do. */
async function startRadicale(type = 'http_x_remote_user'): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-radicale-'))
  const port = await freePort()
  const options = [
    ...['--config', '', '--server-hosts', `127.0.0.1:${port}`],
    ...['--auth-type', type, '--rights-type', 'owner_only'],
    ...['--storage-filesystem-folder', directory],
  ]
  const env = { ...process.env, PYTHONPATH: home }
  const child = spawn('python3', ['-m', 'radicale', ...options], { stdio: 'ignore', env })
  onTestFinished(() => {
    child.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  })
  await until(() =>
    fetch(`http://127.0.0.1:${port}/.web/`).then(
      () => true,
      () => false,
    ),
  )
  return port
}

test.skipIf(home === undefined)(
  'an application reads the caller from a header, and no client can set it',
  async () => {
    const port = await startRadicale()
    const postern = await startPostern({
      config: {
        headers: { userName: 'X-Remote-User' },
        upstreams: { calendar: { targets: [`http://127.0.0.1:${port}`] } },
      },
      rules: ['editor, /*, *'],
      routes: [{ path: '/', upstream: 'calendar' }],
    })
    const body = '<propfind xmlns="DAV:"><prop><current-user-principal/></prop></propfind>'
    const ask = (target: string, headers: readonly string[] = []) =>
      postern.call(`PROPFIND ${target}`, { as: 'editor', headers: ['Depth: 0', ...headers], body })

    const own = await ask('/')
    expect(own.status).toBe(207)
    expect(own.body).toContain('<href>/editor-user/</href>')
    for (const lie of ['X-Remote-User: admin', 'x_remote_user: admin', 'X-REMOTE-USER: admin']) {
      expect((await ask('/', [lie])).body).toContain('<href>/editor-user/</href>')
      expect((await ask('/admin/', [lie])).status).toBe(403)
    }
    expect(
      (await postern.call('PROPFIND /', { headers: ['X-Remote-User: admin'] })).json(),
    ).toMatchObject({
      code: 401,
    })
  },
)

test.skipIf(home === undefined)(
  'an application made for Authelia reads the headers of the preset, and no client can set them',
  async () => {
    const port = await startRadicale('http_remote_user')
    const postern = await startPostern({
      config: {
        headers: { preset: 'authelia' },
        upstreams: { calendar: { targets: [`http://127.0.0.1:${port}`] } },
      },
      rules: ['editor, /*, *'],
      routes: [
        { path: '/', upstream: 'calendar' },
        { path: '/admin', upstream: 'calendar', access: 'public', reason: 'a test' },
      ],
    })
    const body = '<propfind xmlns="DAV:"><prop><current-user-principal/></prop></propfind>'
    const ask = (target: string, headers: readonly string[], as?: string) =>
      postern.call(`PROPFIND ${target}`, {
        headers: ['Depth: 0', ...headers],
        body,
        ...(as !== undefined && { as }),
      })

    const lies = ['Remote-User', 'remote_user', 'REMOTE-USER', 'Remote.User', 'Remote-User-Bin']
    for (const lie of ['X-Other', ...lies].map((name) => `${name}: admin`)) {
      const own = await ask('/', [lie], 'editor')
      expect(own.status).toBe(207)
      expect(own.body).toContain('<href>/editor-user/</href>')
      // On a public route nobody is logged in.
      expect((await ask('/admin/', [lie])).status).toBe(403)
    }
    // What would happen if Postern let one of them through.
    const method = 'PROPFIND'
    const headers = { 'Remote-User': 'admin', depth: '0' }
    const direct = await fetch(`http://127.0.0.1:${port}/admin/`, { method, headers, body })
    expect(direct.status).toBe(207)
  },
)
