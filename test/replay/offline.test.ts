import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

/** The packages that a module loads at once, through all that it imports. */
function packagesOf(start: string): ReadonlySet<string> {
  const packages = new Set<string>()
  const files = new Set([start])
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    for (const [, from = ''] of text.matchAll(
      /^(?:import|export) (?!type)[^'"]*?from '([^']+)'/gms,
    )) {
      if (from.startsWith('.')) files.add(join(dirname(file), from))
      else packages.add(from)
    }
  }
  return packages
}

test('replaying a directory does not load ioredis, which would make it take 1.6 times the CPU', () => {
  const packages = packagesOf('src/cli/evidence/replay/replay.ts')

  expect(packages).toContain('casbin')
  expect(packages).not.toContain('ioredis')
})
