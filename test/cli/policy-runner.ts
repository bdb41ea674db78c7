import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { policyCommands } from '../../src/cli/commands/policy-commands.ts'
import type { Io } from '../../src/cli/io.ts'
import { reportError } from '../../src/cli/report-error.ts'

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** What a person at a terminal types; without it there is no terminal. */
  readonly types?: string | (() => Promise<string>)
  readonly userName?: string
}

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs `postern policy …` in this process, and reports errors as `main` does. */
export async function policy(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { cwd = '.', env = {}, types, userName = 'ada' } = options
  let [out, err] = ['', '']
  const io: Io = {
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    env,
    cwd,
    readStdin: async () => '',
    userName,
    ...(types !== undefined && {
      isTerminal: true,
      ask: async (question: string) => {
        err += question
        return typeof types === 'string' ? types : types()
      },
    }),
  }
  const [first = '', ...rest] = args
  const command = policyCommands[`policy ${first}`]
  if (command === undefined) throw new Error(`no such command: ${first}`)
  const code = await command(rest, io).catch((error: unknown) => reportError(error, io))
  return { code, out, err }
}

/** A directory with these files, gone when the test ends. */
export async function folder(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-policy-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), text)
  }
  return directory
}
