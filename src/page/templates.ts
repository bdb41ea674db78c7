import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { count } from '../kernel/count.ts'
import { Invalid, type Problem } from '../kernel/errors.ts'
import type { Language } from './language.ts'
import { compileTemplate, type Template } from './template.ts'

/** The operator's own page for an error with this status; `undefined`: the built-in one. */
export type FindTemplate = (status: number, language: Language) => Template | undefined

const maxBytes = 262_144
const fileName = /^((?:error|[45][0-9]{2})(?:\.(?:en|zh))?)\.html$/

export const noTemplates: FindTemplate = () => undefined

/**
 * The pages of a directory: `404.html` for a status, `error.html` for all others, `404.zh.html` for one
 * language. Throws Invalid with the problems of all files.
 */
export async function readTemplates(
  directory: string,
): Promise<{ readonly find: FindTemplate; readonly shown: string }> {
  const fail = (file: string, message: string) => new Invalid([{ file, message }])
  const entries = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    throw fail(directory, `cannot be read as directory of pages (${error.code ?? 'unknown error'})`)
  })
  // Mounted volumes have names with a dot of their own.
  const names = entries.filter((name) => !name.startsWith('.')).sort()
  if (names.length === 0) throw fail(directory, 'has no page; add one such as error.html')
  const templates = new Map<string, Template>()
  const problems: Problem[] = []
  for (const name of names) {
    const file = join(directory, name)
    try {
      const [, key] = fileName.exec(name) ?? []
      if (key === undefined) {
        throw fail(file, 'is no page: use error.html, a status such as 404.html, or 404.zh.html')
      }
      templates.set(key, compileTemplate(await readText(file), file))
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      problems.push(...error.problems)
    }
  }
  if (problems.length > 0) throw new Invalid(problems)
  return {
    find: (status, language) =>
      templates.get(`${status}.${language}`) ??
      templates.get(`${status}`) ??
      templates.get(`error.${language}`) ??
      templates.get('error'),
    shown: count(templates.size, 'page'),
  }
}

async function readText(file: string): Promise<string> {
  const invalid = (message: string) => new Invalid([{ file, message }])
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw invalid(`cannot be read as page (${error.code ?? 'unknown error'})`)
  })
  if (bytes.length > maxBytes) throw invalid('is larger than 256 KiB; make the page smaller')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalid('is not UTF-8; save the page in that encoding')
  }
}
