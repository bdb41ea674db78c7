import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { stringify } from 'yaml'
import { policy } from '../cli/policy-runner.ts'
import { policyFiles } from './policy-files.ts'
import type { Ran } from './run-command.ts'
import { testSecret } from './tokens.ts'

const exclusions = stringify([
  { method: 'POST', path: '/api/v1/logout', reason: 'every caller may log out' },
])

/** Somebody who pushes, asks and rolls back all the time, with the commands. */
export interface PolicyAuthor {
  /** The revisions that a command said it had published, oldest first. */
  readonly published: string[]
  /**
   * What was published without the note that a failover could lose it: only that is a promise. Each
   * has a message of its own, by which the history can be compared.
   */
  readonly acknowledged: { readonly revision: string; readonly message: string }[]
  /** Commands that did not do what they are for: which, and what they said. */
  readonly failed: { readonly command: string; readonly at: number; readonly said: string }[]
  /** How often each command succeeded. */
  readonly counts: Record<string, number>
  run(...args: readonly string[]): Promise<Ran>
  /** Pushes a policy that differs from the last one, and waits for gateways if it is not the first. */
  push(): Promise<Ran>
  /** Starts to push, ask and roll back. */
  start(): void
  rest(): Promise<void>
  stop(): Promise<void>
}

export async function createPolicyAuthor(
  redis: Readonly<Record<string, unknown>>,
  rules: readonly string[],
): Promise<PolicyAuthor> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-author-'))
  const file = join(directory, 'postern.yaml')
  await mkdir(join(directory, 'policies'))
  await writeFile(
    file,
    stringify({
      jwt: { secret: testSecret },
      redis,
      policy: { source: 'redis', directory: join(directory, 'policies') },
    }),
  )
  const allPublished: string[] = []
  const acknowledged: PolicyAuthor['acknowledged'][number][] = []
  const failed: PolicyAuthor['failed'][number][] = []
  const counts: Record<string, number> = {}
  let working: Promise<void> | undefined
  let running = true

  async function run(...args: readonly string[]): Promise<Ran> {
    const [command = ''] = args
    const ran = await policy([...args, '--config', file], { cwd: directory })
    // Status does not wait: that gateways have not confirmed their policy yet is its answer.
    const isAnswer = ran.code === 0 || (command === 'status' && /\d+\/\d+ on r-/.test(ran.out))
    if (isAnswer) counts[command] = (counts[command] ?? 0) + 1
    else failed.push({ command, at: performance.now(), said: ran.err + ran.out })
    const published = /^published (r-\w+) over/m.exec(ran.err)?.[1]
    const isSafe = !ran.err.includes('a Redis failover could lose this revision')
    const message = args[args.indexOf('-m') + 1] ?? ''
    if (published !== undefined) allPublished.push(published)
    if (published !== undefined && isSafe) acknowledged.push({ revision: published, message })
    return ran
  }

  async function write(number: number): Promise<void> {
    const more = `editor, /api/v1/extra/${number}, GET`
    const files = [...policyFiles([...rules, more]), { name: 'exclusions.yaml', text: exclusions }]
    for (const { name, text } of files) await writeFile(join(directory, 'policies', name), text)
  }

  let number = 0
  async function push(): Promise<Ran> {
    await write(++number)
    const wait = number === 1 ? ['--no-wait'] : ['--wait', '20']
    return run('push', '--no-tests', '-m', `number ${number}`, '--yes', '--over', 'live', ...wait)
  }

  async function work(): Promise<void> {
    while (running) {
      const before = acknowledged.at(-1)?.revision
      await push()
      await run('status')
      await run('history')
      if (number % 3 === 0 && before !== undefined) {
        await run(
          'rollback',
          before,
          '-m',
          `back from ${number}`,
          '--yes',
          '--over',
          'live',
          '--wait',
          '20',
        )
      }
      await pause(100)
    }
  }

  return {
    published: allPublished,
    acknowledged,
    failed,
    counts,
    run,
    push,
    start() {
      working = work()
    },
    async rest() {
      running = false
      await working
    },
    async stop() {
      running = false
      await working
      await rm(directory, { recursive: true, force: true })
    },
  }
}
