import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

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
