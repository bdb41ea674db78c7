import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { run } from './run.mjs'

/**
 * The chart as `helm package` packs it, except that the files are in the order of their names and have the time
 * of the commit: helm writes the time at which it runs.
 */
export function packChart(sources, { version, time }, out) {
  const same = [
    ...['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner'],
    ...['--mode=u=rwX,go=rX', '--format=gnu', '--exclude-from=helm/postern/.helmignore'],
  ]
  const files = run('tar', [...same, '-C', join(sources, 'helm'), '-cf', '-', 'postern'], {
    encoding: 'buffer',
  })
  const name = `postern-chart-${version}.tgz`
  writeFileSync(join(out, name), gzipSync(files, { level: 9 }))
  return name
}
