import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Invalid } from './errors.ts'

/** One file of the pages, as it is sent. */
export interface PageFile {
  /** Below `/console/`. */
  readonly path: string
  readonly type: string
  /** Whether its name changes with its content. */
  readonly isHashed: boolean
  readonly bytes: Buffer
}

/** Built from `console/`; the same place from `src/kernel` and from `dist/kernel`. */
export const builtPages = fileURLToPath(new URL('../../dist/pages', import.meta.url))

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ico': 'image/x-icon',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/**
 * The pages, read once into memory: requests choose from this list by their whole path, and no request
 * becomes the path of a file. Throws `Invalid` when the pages are not built.
 */
export function readPages(directory: string): readonly PageFile[] {
  const files = namesIn(directory).flatMap((file): PageFile[] => {
    const type = types[extname(file)]
    if (type === undefined) return []
    const path = relative(directory, file).split(sep).join('/')
    const isHashed = path.startsWith('assets/')
    return [{ path, type, isHashed, bytes: readFileSync(file) }]
  })
  if (files.some(({ path }) => path === 'index.html')) return files
  const message = 'the pages of the console are not built; run: npm run build:console'
  throw new Invalid([{ file: directory, message }])
}

/** Only files: a symbolic link could lead anywhere. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
  } catch {
    return []
  }
}
