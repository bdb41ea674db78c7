import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { freePort } from './redis-server.ts'
import { runCommand } from './run-command.ts'
import { testSecret } from './tokens.ts'

/** One line of `postern doctor`. */
interface Finding {
  readonly check: string
  readonly status: string
  readonly message: string
  readonly fix?: string
}

/** The machine may be busy. */
export const patience = ['--timeout', '120']

/** A directory for one test. */
export async function ownDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-doctor-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Runs `postern doctor` on a configuration that has these settings besides sound ones. */
export async function examine(
  settings: Readonly<Record<string, unknown>> = {},
  args: readonly string[] = patience,
) {
  const directory = await ownDirectory()
  const file = join(directory, 'postern.json')
  const sound = {
    application: {
      mode: 'test',
      host: '127.0.0.1',
      port: await freePort(),
      dataDirectory: join(directory, 'data'),
    },
    ops: { host: '127.0.0.1', port: await freePort() },
    jwt: { secret: testSecret },
    policy: { directory: resolve('policies') },
  }
  await writeFile(file, JSON.stringify({ ...sound, ...settings }))
  return { ...(await examineFile(file, args)), directory, file }
}

/** The same for a configuration that exists. */
export async function examineFile(file: string, args: readonly string[] = patience) {
  const { code, out, err } = await runCommand(['doctor', file, '--output', 'json', ...args])
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: readonly Finding[] }
  const of = (check: string) => checks.filter((each) => each.check === check)
  const problems = checks.filter(({ status }) => status === 'problem')
  return { code, ok, checks, of, problems, out, err }
}
