import { execFile } from 'node:child_process'
import { Fault } from '../../kernel/errors.ts'

/** Where git runs. */
export interface GitPlace {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** What git printed, and how it ended. */
interface GitOutput {
  readonly ok: boolean
  readonly bytes: Buffer
  /** The first line on stderr, without git's own label. */
  readonly complaint: string
}

/** Longer than reading a quarter of a gigabyte takes. */
const timeout = 60_000

/** For answers of a line each. */
const shortOutput = 2 ** 20

/**
 * Runs git without a shell and returns what it printed. Only commands that read objects may be run:
 * they start no hook, filter, pager or editor, which the configuration of a repository could name.
 */
export async function runGit(
  args: readonly string[],
  { cwd, env }: GitPlace,
  {
    input = '',
    maxBytes = shortOutput,
  }: { readonly input?: string; readonly maxBytes?: number } = {},
): Promise<GitOutput> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      [...args],
      { cwd, env: { ...env, ...offline }, encoding: 'buffer', maxBuffer: maxBytes, timeout },
      (error, bytes, stderr) => {
        const complaint = firstLine(stderr)
        if (error === null) resolve({ ok: true, bytes, complaint })
        else if (error.code === 'ENOENT') reject(unavailable('git is not installed'))
        else if (typeof error.code === 'number') resolve({ ok: false, bytes, complaint })
        else reject(unavailable(`git ${args[0]} did not finish (${error.code ?? error.signal})`))
      },
    )
    // A git that ends before it has read its input is noticed by how it ends.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

/**
 * Neither reads from the network nor writes. A repository can name a program as the remote of missing
 * objects; older versions of git know only the second variable. A replacement would show other
 * content than the commit has.
 */
const offline = {
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  LC_ALL: 'C',
}

function firstLine(stderr: Buffer): string {
  const [line = ''] = stderr.toString().split('\n')
  return line.replace(/^(?:fatal|error): /, '')
}

/** Git cannot answer. */
export function unavailable(reason: string): Fault {
  return new Fault('policies', { reason })
}
