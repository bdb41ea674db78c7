import { readdirSync, readFileSync } from 'node:fs'

/** In the environment of every process that a run of the tests starts, and of theirs. */
const MARK = 'TEST_RUN'

/** Marks what this process starts from now on. The name has no `POSTERN_`: a gateway rejects unknown settings. */
export function markRun(): void {
  process.env[MARK] = `postern-${process.pid}-${Date.now()}`
}

interface Leftover {
  readonly pid: number
  readonly command: string
}

/**
 * Kills what tests left running: gateways and stores of a test that timed out, whose worker was ended
 * before it could stop them. The workers themselves, children of this process, end by themselves.
 * Reads /proc, which only Linux has.
 */
export function killLeftovers(): readonly Leftover[] {
  const mark = `${MARK}=${process.env[MARK]}`
  const left = processes().filter(({ pid, parent, environment }) => {
    return pid !== process.pid && parent !== process.pid && environment.includes(mark)
  })
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended meanwhile.
    }
  }
  return left.map(({ pid, command }) => ({ pid, command }))
}

function processes() {
  return entriesOf('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0')
      const status = readFileSync(`/proc/${name}/status`, 'utf8')
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      const parent = Number(/^PPid:\s*(\d+)/m.exec(status)?.[1])
      // A process that has ended and that its parent has not waited for has no command.
      return command === '' ? [] : [{ pid: Number(name), parent, command, environment }]
    } catch {
      // It ended meanwhile, or belongs to someone else.
      return []
    }
  })
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
