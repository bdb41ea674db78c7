import { userInfo } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Progress } from '../operations/progress.ts'
import type { Io, Programs } from './io.ts'

/** What commands touch when a process runs them. */
export function createIo(host: NodeJS.Process, programs?: Programs): Io {
  const { stdin, stdout, stderr, env } = host
  const isInWorkflow = env['GITHUB_ACTIONS'] === 'true'
  // A reader that closes the pipe early, such as `head`, is not an error.
  for (const stream of [stdout, stderr]) stream.on('error', () => {})
  const isTerminal = stdin.isTTY === true && stderr.isTTY === true
  const err = (line: string) => void stderr.write(isInWorkflow ? withoutCommands(line) : line)
  return {
    out: (line) => void stdout.write(line),
    ...{ err, isTerminal, progress: createProgress({ err, isTerminal }) },
    env,
    cwd: host.cwd(),
    readStdin: () => text(stdin),
    streamStdin: () => stdin,
    async ask(question) {
      const lines = createInterface({ input: stdin, output: stderr })
      try {
        return await lines.question(question)
      } catch {
        // The end of the input and Ctrl-C both mean no.
        return ''
      } finally {
        lines.close()
      }
    },
    async prompt(question, { isHidden = false } = {}) {
      const output = isHidden ? new Writable({ write: (_, __, done) => done() }) : stderr
      // From here on only readline echoes, so that an answer as quick as the question stays hidden.
      const lines = createInterface({ input: stdin, output, terminal: true })
      if (isHidden) stderr.write(question)
      try {
        return await lines.question(isHidden ? '' : question)
      } catch {
        return undefined
      } finally {
        lines.close()
        if (isHidden) stderr.write('\n')
      }
    },
    cpuMs() {
      const { user, system } = host.threadCpuUsage()
      return (user + system) / 1000
    },
    get userName() {
      return userName(host)
    },
    host,
    ...(programs !== undefined && { programs }),
  }
}

/**
 * A runner of GitHub Actions executes commands that it finds in the log: `::` at the start of a line,
 * and `##[` anywhere. A role name in a message must not be one.
 */
function withoutCommands(text: string): string {
  return text.replaceAll(/##(?=\[)|^(?=\s*::)/gm, (found) => (found === '' ? '· ' : '# #'))
}

/** A container may run under a number that has no name. */
function userName(host: NodeJS.Process): string {
  try {
    return userInfo().username
  } catch {
    const { USER, LOGNAME } = host.env
    return USER || LOGNAME || `uid ${host.getuid?.() ?? 'unknown'}`
  }
}

/** Waits until everything written has reached its reader, or the reader has closed the pipe. */
export async function flushed({ stdout, stderr }: NodeJS.Process): Promise<void> {
  const each = [stdout, stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
  )
  await Promise.all(each)
}

const afterMs = 1000
const everyMs = 100

/** Shows nothing unless stderr is a terminal. `now` is in milliseconds. */
export function createProgress(
  io: Pick<Io, 'isTerminal' | 'err'>,
  now: () => number = () => performance.now(),
): Progress {
  const started = now()
  let shown = Number.NEGATIVE_INFINITY
  let isShown = false
  return {
    show(words) {
      if (io.isTerminal !== true) return
      const at = now()
      if (at - started < afterMs || at - shown < everyMs) return
      shown = at
      isShown = true
      io.err(`\r\u001b[K${words()}`)
    },
    end() {
      if (isShown) io.err('\r\u001b[K')
      isShown = false
    },
  }
}
