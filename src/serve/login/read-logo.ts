import { readFile } from 'node:fs/promises'
import { Invalid } from '../../errors.ts'
import type { PageFile } from '../../page/reply-page.ts'

const maxBytes = 262_144

/** The logo of the login page. Throws Invalid for a file that no browser would show. */
export async function readLogo(path: string): Promise<PageFile> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw invalid(path, `cannot be read (${error.code ?? 'unknown error'})`)
  })
  if (bytes.length > maxBytes) throw invalid(path, 'is larger than 256 KiB; use a smaller picture')
  const type = typeOf(bytes)
  if (type === undefined)
    throw invalid(path, 'is neither SVG, PNG nor WebP; convert it to one of them')
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

function invalid(file: string, message: string): Invalid {
  return new Invalid([{ file, message: `login.page.logo: the file ${message}` }])
}
