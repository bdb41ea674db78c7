import { readFile } from 'node:fs/promises'
import { Invalid } from '../../kernel/errors.ts'

const maxBytes = 1_048_576

/** The file of a fixed response. Throws Invalid for one that cannot be read or is too large. */
export async function readResponseFile(path: string): Promise<Buffer> {
  const invalid = (message: string) => new Invalid([{ file: path, message }])
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw invalid(`cannot be read as response of a route (${error.code ?? 'unknown error'})`)
  })
  if (bytes.length <= maxBytes) return bytes
  throw invalid('is larger than 1 MiB; serve it from an upstream instead')
}
