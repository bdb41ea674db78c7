import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/redis-server.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const hasRadicale = spawnSync('radicale', ['--version']).status === 0
if (!hasRadicale) console.warn('skipped: the program radicale is not installed')

/** Radicale trusts the name in X-Remote-User, as many applications made for other proxies do. */
async function startRadicale(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-radicale-'))
  const port = await freePort()
  const options = [
    ...['--config', '', '--server-hosts', `127.0.0.1:${port}`],
    ...['--auth-type', 'http_x_remote_user', '--rights-type', 'owner_only'],
    ...['--storage-filesystem-folder', directory],
  ]
  const child = spawn('radicale', options, { stdio: 'ignore' })
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

test.skipIf(!hasRadicale)(
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
