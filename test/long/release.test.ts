import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { userEnvironment } from '../support/packed-package.ts'

const missing = existsSync('.git') ? undefined : 'these sources are not a Git checkout'
if (missing !== undefined) console.warn(`left out: a release; ${missing}`)

describe.skipIf(missing !== undefined)('npm run release', () => {
  let root: string
  let checkout: string
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'postern-releases-'))
    checkout = join(root, 'checkout')
    git('.', 'clone', '--quiet', '.', checkout)
    git(checkout, 'config', 'user.name', 'Ann')
    git(checkout, 'config', 'user.email', 'ann@example.com')
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const release = (out: string, ...args: readonly string[]) => {
    const given = ['scripts/release.mjs', '--no-image', '--out', join(root, out), ...args]
    const env = userEnvironment()
    return spawnSync(process.execPath, given, { cwd: checkout, env, encoding: 'utf8' })
  }

  test('asks for a tag, a dated section of the changelog, and a checkout without changes', () => {
    const untagged = release('untagged')
    expect(untagged.status).toBe(1)
    expect(untagged.stderr).toBe(
      `release: this commit has no tag v${version}: run git tag -s v${version}, or rehearse with --draft\n`,
    )

    appendFileSync(join(checkout, 'README.md'), 'changed')
    expect(release('changed', '--draft').stderr).toMatch(/^release: the checkout has changes/)
    git(checkout, 'checkout', '--quiet', 'README.md')

    const changelog = join(checkout, 'CHANGELOG.md')
    writeFileSync(changelog, readFileSync(changelog, 'utf8').replaceAll(`[${version}]`, '[9.9.9]'))
    git(checkout, 'commit', '--quiet', '--all', '--message', 'no section')
    git(checkout, 'tag', `v${version}`)
    expect(release('undated').stderr).toContain(`CHANGELOG.md has no section "## [${version}]`)
    git(checkout, 'reset', '--quiet', '--hard', 'HEAD~1')
  })

  test('refuses a chart of another version', () => {
    const file = join(checkout, 'helm/postern/Chart.yaml')
    const text = readFileSync(file, 'utf8').replace(/^version: .*$/m, 'version: 0.0.9')
    writeFileSync(file, text)

    expect(release('other', '--draft').stderr).toBe(
      `release: helm/postern/Chart.yaml says version 0.0.9, package.json ${version}: make them equal\n`,
    )
    git(checkout, 'checkout', '--quiet', 'helm')
  })

  test('makes package, chart, list of packages, notes and checksums, twice the same', () => {
    const [first, second] = [release('first', '--draft'), release('second', '--draft')]

    expect(first.stderr).toBe('')
    expect([first.status, second.status]).toEqual([0, 0])
    expect(readdirSync(join(root, 'first')).sort()).toEqual([
      'NOTES.md',
      'SHA256SUMS',
      `postern-${version}.cdx.json`,
      `postern-${version}.tgz`,
      `postern-chart-${version}.tgz`,
    ])
    const sums = (name: string) => readFileSync(join(root, name, 'SHA256SUMS'), 'utf8')
    expect(sums('second')).toBe(sums('first'))
    const check = spawnSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: join(root, 'first') })
    expect(check.status).toBe(0)
    // What it was made of, which `postern version` shows.
    const commit = ['-xOf', `postern-${version}.tgz`, 'package/dist/commit']
    const { stdout } = spawnSync('tar', commit, { cwd: join(root, 'first'), encoding: 'utf8' })
    expect(stdout).toBe(git(checkout, 'rev-parse', 'HEAD').trim())
    // Two installations and two builds.
  }, 900_000)

  test('adds nothing to a directory that has files', () => {
    expect(release('first', '--draft').stderr).toContain('is not empty: choose another directory')
  })
})

function git(cwd: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout
}
