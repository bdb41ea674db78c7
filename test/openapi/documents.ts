import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Invalid } from '../../src/kernel/errors.ts'
import { type OpenApiDocument, readOpenApi } from '../../src/openapi/document.ts'

/** A folder with these files, removed when the test ends. */
export async function documentFolder(
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-openapi-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  return folder
}

/** Reads `api.yaml`, or the first file, of these. */
export async function read(
  files: Readonly<Record<string, string | Uint8Array>> | string,
  options: { readonly base?: string } = {},
): Promise<OpenApiDocument> {
  const all = typeof files === 'string' ? { 'api.yaml': files } : files
  const folder = await documentFolder(all)
  const [name = ''] = Object.keys(all)
  return readOpenApi({ path: join(folder, name), name }, options)
}

/** `GET /orders` of every operation. */
export async function callsOf(...args: Parameters<typeof read>): Promise<readonly string[]> {
  const { operations } = await read(...args)
  return operations.map(({ method, path }) => `${method} ${path}`)
}

/** The problems of a document, as a command prints them. */
export async function problemsOf(...args: Parameters<typeof read>): Promise<string> {
  const failed = await read(...args).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (failed instanceof Invalid) return failed.message
  throw failed ?? new Error('the document was accepted')
}
