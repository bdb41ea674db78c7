import { dispatch } from '../../src/cli/commands/dispatch.ts'
import { programs } from '../../src/serve/programs/programs.ts'
import { checkDocument } from './check-document.ts'
import { golden } from './golden/golden.ts'

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string | Buffer
  /** What a person at a terminal types, or `undefined` for Ctrl-C; without it there is no terminal. */
  readonly types?: string | (() => Promise<string | undefined>)
  /** Sees each text of stdout as it is written. */
  readonly onOut?: (text: string) => void
  readonly userName?: string
  /** The clock of CPU time. */
  readonly cpuMs?: () => number
  /** The time, in milliseconds since 1970. */
  readonly now?: () => number
}

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs `postern …` in this process, as `main.ts` does. */
export async function runCommand(
  argv: readonly string[],
  { cwd = '.', env = {}, stdin = '', types, onOut, userName = 'ada', cpuMs, now }: RunOptions = {},
): Promise<Ran> {
  let [out, err] = ['', '']
  const record = golden?.call(['postern', ...argv].join(' '))
  const code = await dispatch(argv, {
    out: (text) => {
      out += text
      onOut?.(text)
    },
    err: (text) => {
      err += text
    },
    env,
    cwd,
    readStdin: async () => stdin.toString(),
    async *streamStdin() {
      yield Buffer.from(stdin)
    },
    userName,
    host: process,
    programs,
    ...(cpuMs !== undefined && { cpuMs }),
    ...(now !== undefined && { now }),
    ...(types !== undefined && {
      isTerminal: true,
      ask: async (question: string) => {
        err += question
        return typeof types === 'string' ? types : ((await types()) ?? '')
      },
      prompt: async (question: string) => {
        err += question
        return typeof types === 'string' ? types : types()
      },
    }),
  })
  if (/ --output[ =]json\b/.test(argv.join(' ')))
    await checkDocument(argv.join('/'), out, `${code}`)
  record?.({ code, out, err })
  return { code, out, err }
}
