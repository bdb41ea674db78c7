import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './run.mjs'
import { stop } from './stop.mjs'

const git = (...args) => run('git', args).trim()

/** Where a version is written, besides package.json. One that was forgotten would label a build wrongly. */
const places = [
  ['helm/postern/Chart.yaml', /^version: (\S+)$/m],
  ['helm/postern/Chart.yaml', /^appVersion: (\S+)$/m],
  ['Dockerfile', /image\.version="([^"]+)"/],
]

/** Version, commit and the time of the commit in seconds, which every file of the release has. */
export function readRelease(isDraft) {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const [file, pattern] of places) {
    const [, found] = pattern.exec(readFileSync(file, 'utf8')) ?? []
    if (found !== version)
      stop(`${file} says version ${found}, package.json ${version}: make them equal`)
  }
  const changed = git('status', '--porcelain')
  if (changed !== '') stop(`the checkout has changes: commit or remove them\n${changed}`)
  if (!isDraft && !git('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`)) {
    stop(`this commit has no tag v${version}: run git tag -s v${version}, or rehearse with --draft`)
  }
  return {
    version,
    commit: git('rev-parse', 'HEAD'),
    time: Number(git('log', '-1', '--format=%ct')),
  }
}

/** The files of the commit in a directory of their own: nothing that only lies around here gets into a release. */
export function exportSources({ commit }) {
  const directory = mkdtempSync(join(tmpdir(), 'postern-release-'))
  const archive = join(directory, 'sources.tar')
  run('git', ['archive', '--output', archive, commit])
  run('tar', ['-xf', archive, '-C', directory])
  rmSync(archive)
  return directory
}
