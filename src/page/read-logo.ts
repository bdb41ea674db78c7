import { readFile } from 'node:fs/promises'
import { Invalid } from '../kernel/errors.ts'
import type { PageFile } from './reply-page.ts'

const maxBytes = 262_144

/** The logo of the login page. Throws Invalid for a file that no browser would show. */
export async function readLogo(path: string): Promise<PageFile> {
  const invalid = (message: string) => new Invalid([{ file: path, message }])
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw invalid(`cannot be read as logo of the login page (${error.code ?? 'unknown error'})`)
  })
  if (bytes.length > maxBytes) {
    throw invalid('is larger than 256 KiB; use a smaller logo for the login page')
  }
  const type = typeOf(bytes)
  if (type === undefined) {
    throw invalid('is neither SVG, PNG nor WebP; convert the logo of the login page to one of them')
  }
  return { type, bytes }
}

/** By content: browsers must not guess, and a file name proves nothing. */
function typeOf(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n') return 'image/png'
  const isWebp =
    bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'
  if (isWebp) return 'image/webp'
  const start = bytes.toString('utf8', 0, 1024)
  return /^\s*(?:<\?xml[^>]*>\s*|<!--[\s\S]*?-->\s*|<!DOCTYPE[^>]*>\s*)*<svg[\s>]/.test(start)
    ? 'image/svg+xml'
    : undefined
}
