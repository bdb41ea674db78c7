import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runNginx } from '../support/nginx.ts'
import { freePort } from '../support/redis-server.ts'
import { startPostern } from '../support/start-postern.ts'

/** A real WebDAV server below `/store`, behind a route for `/dav`. */
async function startStore() {
  const root = await mkdtemp(join(tmpdir(), 'postern-dav-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, 'store', 'mine'), { recursive: true })
  await mkdir(join(root, 'store', 'yours'))
  await writeFile(join(root, 'store', 'mine', 'a.txt'), 'text')
  const port = await freePort()
  const server = `listen 127.0.0.1:${port}; root ${root}; location / { dav_methods COPY MOVE; }`
  await runNginx(`server { ${server} }`, port)
  const postern = await startPostern({
    rules: ['editor, /dav/mine/*, *'],
    config: { upstreams: { store: { targets: [`http://127.0.0.1:${port}`] } } },
    routes: [{ path: '/dav', upstream: 'store', replacePrefix: '/store' }],
  })
  return { postern, files: (folder: string) => readdir(join(root, 'store', folder)) }
}

// test/support/services/setup.ts has said so where there is none.
describe.skipIf(process.env['POSTERN_TEST_NGINX'] === '')('before a real WebDAV server', () => {
  test('COPY and MOVE write where the client may, and nowhere else', async () => {
    const { postern, files } = await startStore()
    const ask = (line: string, destination: string) =>
      postern.call(line, { as: 'editor', headers: [`Destination: ${destination}`] })

    await ask('COPY /dav/mine/a.txt', 'https://gateway.test/dav/mine/b.txt')
    expect(await files('mine')).toEqual(['a.txt', 'b.txt'])
    await ask('MOVE /dav/mine/a.txt', '/dav/mine/c.txt')
    expect(await files('mine')).toEqual(['b.txt', 'c.txt'])

    await ask('MOVE /dav/mine/b.txt', '/dav/yours/b.txt')
    await ask('MOVE /dav/mine/b.txt', '/store/yours/b.txt')
    await ask('MOVE /dav/mine/b.txt', '/dav/mine/../yours/b.txt')
    await ask('MOVE /dav/mine/b.txt', '/dav/mine/%2e%2e/yours/b.txt')
    expect(await files('mine')).toEqual(['b.txt', 'c.txt'])
    expect(await files('yours')).toEqual([])
  })
})
