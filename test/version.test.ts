import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

type Versions = typeof import('../src/kernel/version.ts')

/** What a program says that was compiled into a directory of its own and has this stamp. */
async function versionsOf(stamp: string | undefined): Promise<Versions> {
  const root = await mkdtemp(join(tmpdir(), 'postern-version-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const kernel = join(root, 'dist', 'kernel')
  mkdirSync(kernel, { recursive: true })
  cpSync('src/kernel/version.ts', join(kernel, 'version.ts'))
  writeFileSync(join(root, 'package.json'), '{"version":"1.2.3","type":"module","engines":{}}')
  if (stamp !== undefined) writeFileSync(join(root, 'dist', 'commit'), stamp)
  return import(pathToFileURL(join(kernel, 'version.ts')).href)
}

const commit = '1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d'

test.each([
  [commit, '1.2.3+1a2b3c4d5e6f'],
  [`${commit}-dirty\n`, '1.2.3+1a2b3c4d5e6f.dirty'],
  ['', '1.2.3'],
  ['not a commit', '1.2.3'],
  [undefined, '1.2.3'],
])('two builds of a version differ by their commit: %j is %s', async (stamp, build) => {
  expect(await versionsOf(stamp)).toMatchObject({ version: '1.2.3', build })
})
