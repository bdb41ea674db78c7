import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { loadScript } from '../../src/stores/redis/redis.ts'

const directory = mkdtempSync(join(tmpdir(), 'postern-lua-'))

afterAll(() => rmSync(directory, { recursive: true }))

function written(text: string): URL {
  const file = join(directory, 'script.lua')
  writeFileSync(file, text)
  return pathToFileURL(file)
}

test('a script is sent without its comments, and with the values that it names', () => {
  const file = written(
    '-- KEYS: none.\n{{part}}\nif true then\n  -- Why.\n  return {{most}}\nend\n',
  )

  expect(loadScript(file, { part: 'local a = 1', most: 5 })).toBe(
    'local a = 1\nif true then\n  return 5\nend\n',
  )
})

test('a script that names a value which it does not get is an error', () => {
  expect(() => loadScript(written('return {{most}}\n'), { least: 1 })).toThrow('needs most')
})
