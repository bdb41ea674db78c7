import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bench } from './places.ts'
import type { Results } from './results.ts'

const run = promisify(execFile)

interface Phases {
  readonly milliseconds: { readonly p99OfEachRound: readonly number[] }
}

/** What one of our own benchmarks says of calm rounds and of others. */
interface Disturbed {
  readonly calm: Phases
  /** It went on at another gateway on the same machine. */
  readonly elsewhere: { readonly proxied: Phases }
  readonly busy: readonly { readonly proxied: Phases }[]
}

const longestMs = 600_000

/** Benchmarks of Postern alone: what disturbs the calls of everybody else. */
export const disturbances = [
  {
    name: 'logins',
    args: [join('logins', 'main.ts'), '--concurrency', '0', '--rounds', '5', '--seconds', '3'],
  },
  { name: 'reloads', args: [join('reloads', 'main.ts'), '--rounds', '5', '--seconds', '3'] },
] as const

/** Runs one of them and adds the p99 of its rounds, calm and busy. Throws when it fails. */
export async function addDisturbance(
  { name, args: [file, ...args] }: (typeof disturbances)[number],
  results: Results,
): Promise<void> {
  const { stdout } = await run(process.execPath, [join(bench, file), ...args], {
    timeout: longestMs,
    maxBuffer: 64 * 2 ** 20,
  }).catch(({ stderr, message }: { readonly stderr?: string; readonly message: string }) => {
    const complaint = stderr?.split('\n').find((line) => /^\w*Error: /.test(line))
    throw new Error(complaint ?? message)
  })
  const said: Disturbed = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  const add = (workload: string, phases: Phases | undefined) =>
    phases?.milliseconds.p99OfEachRound.forEach(
      (p99, round) => void results.add({ peer: 'postern', workload }, round, { p99 }),
    )
  add(`${name}-calm`, said.calm)
  add(`${name}-elsewhere`, said.elsewhere.proxied)
  add(name, said.busy[0]?.proxied)
}
