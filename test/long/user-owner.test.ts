import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { copiedDirectory } from '../stores/test-databases.ts'

/** The user `nobody`, under its usual number. */
const other = { uid: 65_534, gid: 65_534 }
const root = { uid: 0, gid: 0 }
const main = resolve('src/main.ts')
const problem = reasonToLeaveOut()
if (problem !== undefined) console.log(`left out: root and another user's database: ${problem}`)

function reasonToLeaveOut(): string | undefined {
  if (process.geteuid?.() !== 0) return 'the tests do not run as root'
  const asOther = { ...other, cwd: '/' }
  const reads = `require('fs').accessSync(${JSON.stringify(main)})`
  return spawnSync(process.execPath, ['-e', reads], asOther).status === 0
    ? undefined
    : 'the user nobody cannot read these files'
}

/** A data directory of that user, with a database if so wanted, and a configuration that names it. */
async function directoryOfOther({ isEmpty = false } = {}): Promise<{ data: string; file: string }> {
  const data = isEmpty ? await mkdtemp(join(tmpdir(), 'postern-owner-')) : await copiedDirectory()
  const settings = await mkdtemp(join(tmpdir(), 'postern-owner-'))
  onTestFinished(async () => {
    await rm(data, { recursive: true, force: true })
    await rm(settings, { recursive: true, force: true })
  })
  const file = join(settings, 'postern.yaml')
  const secret = 'a secret of the test that is long enough for anybody'
  await writeFile(file, stringify({ application: { dataDirectory: data }, jwt: { secret } }))
  for (const path of await everythingIn(data)) await chown(path, other.uid, other.gid)
  for (const path of await everythingIn(settings)) await chown(path, other.uid, other.gid)
  return { data, file }
}

async function everythingIn(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true })
  return [directory, ...names.map((name) => join(directory, name))]
}

/** Files that the other user could not open. */
async function ofRoot(directory: string): Promise<string[]> {
  const paths = await everythingIn(directory)
  const stats = await Promise.all(paths.map(async (path) => ({ path, ...(await stat(path)) })))
  return stats.flatMap(({ path, uid }) => (uid === 0 ? [path] : []))
}

function start(user: typeof root, args: readonly string[]) {
  const child = spawn(process.execPath, [...args], {
    ...user,
    cwd: '/',
    env: { PATH: process.env['PATH'] },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function postern(user: typeof root, args: readonly string[]) {
  const child = start(user, [main, ...args])
  const [, out, err] = await Promise.all([
    once(child, 'exit'),
    text(child.stdout),
    text(child.stderr),
  ])
  return { code: child.exitCode, out, err }
}

describe.skipIf(problem !== undefined)(
  'a command that root runs on the embedded database of another user',
  () => {
    test('refuses while no gateway runs, says what to do, and leaves no file behind', async () => {
      const { data, file } = await directoryOfOther()

      const refused = await postern(root, [
        'user',
        'add',
        'alice',
        '--role',
        'viewer',
        '--config',
        file,
      ])

      expect(refused).toMatchObject({ code: 5, out: '' })
      expect(refused.err).toMatch(
        /^postern: the embedded database in .* belongs to .*\(uid 65534\)/,
      )
      expect(refused.err).toMatch(/sudo -u nobody postern|setpriv --reuid=65534/)
      expect(refused.err.trimEnd()).not.toContain('\n')
      expect(await ofRoot(data)).toEqual([])
      expect(await postern(other, ['user', 'list', '--config', file])).toMatchObject({ code: 0 })
    })

    test('works through the process that has it open', async () => {
      const { data, file } = await directoryOfOther()
      const host = start(other, [resolve('test/stores/embedded-process.ts'), data])
      await once(host.stdout, 'data')

      const added = await postern(root, [
        'user',
        'add',
        'alice',
        '--role',
        'viewer',
        '--config',
        file,
      ])
      host.stdin.end()
      await once(host, 'exit')

      expect(added).toMatchObject({ code: 0 })
      expect(await ofRoot(data)).toEqual([])
    })

    test('creates none in the directory of that user', async () => {
      const { data, file } = await directoryOfOther({ isEmpty: true })

      const refused = await postern(root, ['user', 'list', '--config', file])

      expect(refused).toMatchObject({ code: 5, err: expect.stringContaining('(uid 65534)') })
      expect(await readdir(data)).toEqual([])
    })
  },
)

describe.skipIf(problem !== undefined)('an embedded database that root created', () => {
  test('is refused by another user in one line that says how to hand it over', async () => {
    const { data, file } = await directoryOfOther({ isEmpty: true })
    await mkdir(join(data, 'database'), { mode: 0o700 })

    const refused = await postern(other, ['user', 'list', '--config', file])

    expect(refused).toMatchObject({ code: 5 })
    expect(refused.err).toContain(
      `belongs to root (uid 0): run this as that user, or change its owner: chown -R 65534 ${data}`,
    )
  })
})
