import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Invalid, type Problem } from '../kernel/errors.ts'

/** A decision log that can be read once. */
export interface LogSource {
  /** For messages. */
  readonly name: string
  /** On disk; `undefined` for a pipe. */
  readonly bytes: number | undefined
  readonly open: () => AsyncIterable<Uint8Array>
}

interface Places {
  readonly cwd: string
  /** What `-` means. */
  readonly stdin: () => AsyncIterable<Uint8Array>
}

/** How much is read at once. */
export const chunkBytes = 512 * 1024

/**
 * Finds the logs before any of them is read, so that a mistyped name is noticed at once. Throws `Invalid`
 * with all names that cannot be read.
 */
export async function findLogs(
  names: readonly string[],
  { cwd, stdin }: Places,
): Promise<readonly LogSource[]> {
  const problems: Problem[] = []
  const seen = new Set<string>()
  const sources: LogSource[] = []
  for (const name of names) {
    const found = name === '-' ? '-' : await stat(resolve(cwd, name)).catch(codeOf)
    const message = problemOf(found)
    const id = typeof found === 'string' ? found : `${found.dev}:${found.ino}`
    if (message !== undefined) problems.push({ file: name, message })
    else if (seen.has(id)) problems.push({ file: name, message: 'is given twice' })
    else if (typeof found === 'string')
      sources.push({ name: 'stdin', bytes: undefined, open: stdin })
    else sources.push(fileSource(name, resolve(cwd, name), found))
    seen.add(id)
  }
  if (problems.length > 0) throw new Invalid(problems)
  return sources
}

type FileState = Awaited<ReturnType<typeof stat>> | string

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error'
}

function problemOf(found: FileState): string | undefined {
  if (found === '-') return undefined
  if (typeof found !== 'string') {
    return found.isDirectory() ? 'is a directory: name the files in it' : undefined
  }
  return found === 'ENOENT' ? 'does not exist' : `cannot be read (${found})`
}

function fileSource(name: string, path: string, found: Exclude<FileState, string>): LogSource {
  return {
    name,
    bytes: found.isFile() ? Number(found.size) : undefined,
    open: () => createReadStream(path, { highWaterMark: chunkBytes }),
  }
}
