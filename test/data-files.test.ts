import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { sources } from './support/sources.ts'

const names = readdirSync('src', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
const modules = names.filter((name) => name.endsWith('.ts'))

/** Word lists, templates, style sheets and so on. */
const dataFiles = names.filter((name) => !name.endsWith('.ts'))

/** As scripts/bundle.mjs finds what it copies beside the built modules. */
const read = modules.flatMap((name) =>
  Array.from(
    readFileSync(name, 'utf8').matchAll(
      /new URL\(\s*'\.\/([^']+)',\s*import\.meta\.url|from '(\.\.?\/[^']+\.json)'/g,
    ),
    ([, beside, imported = '']) => join(dirname(name), beside ?? imported),
  ),
)

test('a module reads each data file, and each file that a module reads exists', () => {
  expect(dataFiles).toContain('src/login/passwords/common-passwords.txt')
  expect(new Set(read)).toEqual(new Set(dataFiles))
})

test('bundles the file of every thread under its own name', () => {
  const bundle = readFileSync('scripts/bundle.mjs', 'utf8')
  const threads = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/import\.meta\.url\.replace\([^\n]*, '([-a-z]+)'\)/g)].map(([, name]) =>
      join(dirname(path), `${name}`),
    ),
  )

  expect(threads).toHaveLength(4)
  expect(threads.filter((thread) => !bundle.includes(`'${thread}'`))).toEqual([])
})
