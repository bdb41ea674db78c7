import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const pages = join(import.meta.dirname, '..', '..', 'dist', 'pages')
const kilobyte = 1000

test('all scripts and styles together have at most 250 KB, gzipped', () => {
  const files = readdirSync(pages, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(?:js|css)$/.test(name),
  )
  const sizes = files.map(
    (name) => [name, gzipSync(readFileSync(join(pages, name))).length] as const,
  )
  const sum = sizes.reduce((total, [, bytes]) => total + bytes, 0)

  expect(files.some((name) => name.endsWith('.css'))).toBe(true)
  expect(files.filter((name) => name.endsWith('.js')).length).toBeGreaterThan(10)
  expect(sum, JSON.stringify(sizes)).toBeLessThanOrEqual(250 * kilobyte)
})
