import { join } from 'node:path'
import type { DraftDirectory } from '../../operations/context.ts'

/** A closed form: neither a path out of the directory nor a hidden file has it. */
export const draftName =
  '^(tests/[A-Za-z0-9_-]{1,100}_test\\.yaml|[A-Za-z0-9_-]{1,100}\\.(csv|conf|yaml))$'
export const mostFiles = 100
/** How the command names the directory in what it prints; not the name of anything that is stored. */
export const directoryName =
  '^(?!live$|r-[0-9a-f]+$|git:|-)[^\\u0000-\\u001f\\u007f-\\u009f]{1,200}$'

/**
 * Reads the members `files` and `directory` of a body: a directory that is nowhere but in memory.
 * Returns what is wrong, in one line.
 */
export function readDraft(files: unknown, directory?: unknown): DraftDirectory | string {
  const isNamed = typeof directory === 'string' && new RegExp(directoryName).test(directory)
  if (directory !== undefined && !isNamed) {
    return 'directory must be the name of a directory, of at most 200 characters'
  }
  if (!Array.isArray(files) || files.length === 0 || files.length > mostFiles) {
    return `files must be a list of 1 to ${mostFiles} files`
  }
  const texts = new Map<string, string>()
  for (const file of files) {
    const { name, text, ...others } = (file ?? {}) as Record<string, unknown>
    const isFile = typeof name === 'string' && typeof text === 'string'
    if (!isFile || Object.keys(others).length > 0) return 'each file must have a name and a text'
    if (!new RegExp(draftName).test(name)) {
      return `files: ${JSON.stringify(name.slice(0, 100))} is not the name of a policy file, such as policy.csv or tests/orders_test.yaml`
    }
    if (texts.has(name)) return `files: ${name} is there twice`
    texts.set(name, text)
  }
  const all = [...texts.keys()].toSorted().map((name) => ({
    isTest: name.startsWith('tests/'),
    file: { name: isNamed ? join(directory, name) : name, text: texts.get(name) ?? '' },
  }))
  return {
    name: isNamed ? directory : 'the draft',
    files: all.flatMap(({ isTest, file }) => (isTest ? [] : [file])),
    tests: all.flatMap(({ isTest, file }) => (isTest ? [file] : [])),
  }
}
