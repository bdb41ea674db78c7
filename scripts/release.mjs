// Makes everything that a release consists of, from the commit that is checked out: the package, the chart, the
// list of packages, the image, notes and checksums. The same commit gives the same bytes, so that anybody can
// make them again and compare. Publishes nothing.
//
//   npm run release -- [--out DIR] [--draft] [--no-image] [--base IMAGE]
//
// Without --draft, the commit must have the tag of its version, and CHANGELOG.md a dated section about it.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { packChart } from './release/chart.mjs'
import { checksums } from './release/checksums.mjs'
import { makeImages } from './release/images.mjs'
import { readNotes } from './release/notes.mjs'
import { packPackage } from './release/package.mjs'
import { exportSources, readRelease } from './release/sources.mjs'
import { stop } from './release/stop.mjs'

const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: 'release' },
    draft: { type: 'boolean', default: false },
    'no-image': { type: 'boolean', default: false },
    base: { type: 'string' },
  },
})

const release = readRelease(options.draft)
const out = resolve(options.out)
mkdirSync(out, { recursive: true })
// What is left of another release would get a checksum.
if (readdirSync(out).length > 0)
  stop(`${options.out} is not empty: choose another directory with --out`)
const notes = readNotes(release, options.draft)
const sources = exportSources(release)
try {
  const names = [
    packPackage(sources, release, out),
    packChart(sources, release, out),
    ...(options['no-image'] ? [] : await makeImages(sources, release, out, options)),
  ]
  writeFileSync(join(out, 'NOTES.md'), notes)
  writeFileSync(join(out, 'SHA256SUMS'), checksums(out))
  console.log(`postern ${release.version} (${release.commit.slice(0, 12)}) in ${options.out}:`)
  for (const name of [...names, 'NOTES.md', 'SHA256SUMS']) console.log(`  ${name}`)
  console.log(readFileSync(join(out, 'SHA256SUMS'), 'utf8').trimEnd())
} finally {
  rmSync(sources, { recursive: true, force: true })
}
