import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../support/until.ts'

const main = resolve('src/main.ts')
const execute = promisify(execFile)

/** A directory with a configuration and no data yet. */
async function configured(mode: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-first-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  await cp('policies', join(directory, 'policies'), { recursive: true })
  const secret = 'a-secret-for-tests-only-0123456789abcdef'
  await writeFile(
    join(directory, 'postern.yaml'),
    `application: { mode: ${mode}, host: 127.0.0.1, port: 0, dataDirectory: data }\nops: { port: 0 }\njwt: { secret: ${secret} }\n`,
  )
  return directory
}

/** Runs a gateway, and returns all that it wrote when `isDone` holds for it, and how to stop it. */
async function run(
  directory: string,
  program: readonly string[],
  isDone: (out: string) => boolean,
) {
  const [file = '', ...args] = program
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('POSTERN_'))
  const child = spawn(file, args, { cwd: directory, env: Object.fromEntries(env) })
  const kill = () => void child.kill('SIGKILL')
  onTestFinished(kill)
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += chunk))
  await until(() => isDone(out) || child.exitCode !== null)
  return {
    out: () => out,
    async stop() {
      child.kill('SIGTERM')
      await until(() => child.exitCode !== null || child.signalCode !== null)
    },
  }
}

async function passwordsIn(directory: string): Promise<Record<string, string>> {
  const text = await readFile(join(directory, 'data/first-passwords.txt'), 'utf8')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(lines.map((line) => line.split(' ') as [string, string]))
}

const serve = [process.execPath, main, 'serve', '--config', 'postern.yaml']

test.each(['prod', 'dev'])(
  'mode %s: the first start writes the passwords to a file, and only its path to the log',
  async (mode) => {
    const directory = await configured(mode)

    const first = await run(directory, serve, (out) => out.includes('"listening"'))
    await first.stop()

    const { admin = '', editor = '' } = await passwordsIn(directory)
    expect([admin.length, editor.length]).toEqual([16, 16])
    expect(first.out()).not.toContain(admin)
    expect(first.out()).not.toContain(editor)
    expect(first.out()).toContain(`/data/first-passwords.txt","accounts":["admin","editor"]`)
    expect((await stat(join(directory, 'data/first-passwords.txt'))).mode & 0o777).toBe(0o600)

    // The operator deletes it, and no later start writes it again.
    await rm(join(directory, 'data/first-passwords.txt'))
    const second = await run(directory, serve, (out) => out.includes('"listening"'))
    await second.stop()
    expect(second.out()).not.toContain('first-passwords')
    await expect(passwordsIn(directory)).rejects.toThrow('ENOENT')
  },
)

test('the tour that goes to a file reads the password from its file, and logs in', async () => {
  const directory = await configured('dev')
  const isDone = (out: string) => out.includes('curl -i -X DELETE')

  const gateway = await run(directory, [...serve, '--tour'], isDone)

  const { admin = '', editor = '' } = await passwordsIn(directory)
  expect(gateway.out()).not.toContain(admin)
  expect(gateway.out()).not.toContain(editor)
  const [command = ''] = /^ {2}TOKEN=\$\([\s\S]*?\)$/m.exec(gateway.out()) ?? []
  const { stdout } = await execute('bash', ['-c', `${command}\necho "$TOKEN"`])
  expect(stdout.split('.')).toHaveLength(3)
  await gateway.stop()
})

test.each([
  ['dev', true],
  ['prod', false],
] as const)('a terminal in mode %s shows the passwords: %s', async (mode, isShown) => {
  const directory = await configured(mode)
  const terminal = ['python3', resolve('test/support/terminal.py'), '--', ...serve]
  const isDone = (out: string) => /listening/.test(out) && (!isShown || /account editor/.test(out))

  const gateway = await run(directory, terminal, isDone)

  const printed = /created account editor \(role editor\), password (\S{16})/.test(gateway.out())
  const isKept = await passwordsIn(directory).then(
    ({ editor = '' }) => !gateway.out().includes(editor),
    () => false,
  )
  expect({ printed, isKept }).toEqual({ printed: isShown, isKept: !isShown })
  await gateway.stop()
})

test('a first start that cannot listen keeps the passwords, and later starts point at them', async () => {
  const directory = await configured('dev')
  const occupied = createServer().listen(0, '127.0.0.1')
  await once(occupied, 'listening')
  onTestFinished(() => void occupied.close())
  const { port } = occupied.address() as AddressInfo
  const terminal = ['python3', resolve('test/support/terminal.py'), '--', 'env']
  const onPort = [`POSTERN_APPLICATION__PORT=${port}`, ...serve]

  const failed = await run(directory, [...terminal, ...onPort], () => false)
  expect(failed.out()).toContain('it is in use')
  const { admin = '' } = await passwordsIn(directory)
  expect(admin).toHaveLength(16)

  const second = await run(directory, [...terminal, ...serve], (out) => /listening/.test(out))
  await second.stop()
  expect(second.out()).toContain('the first passwords are still in this file')
  expect(await passwordsIn(directory)).toMatchObject({ admin })
})
