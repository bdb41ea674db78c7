import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

interface Document {
  readonly bomFormat: string
  readonly metadata: { readonly component: { readonly name: string } }
  readonly components: readonly {
    readonly 'bom-ref': string
    readonly group?: string
    readonly name: string
    readonly version: string
    readonly hashes?: readonly unknown[]
    readonly licenses?: readonly unknown[]
  }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

type Lock = {
  readonly packages: Readonly<
    Record<string, { readonly version: string; readonly dev?: true; readonly link?: true }>
  >
}

test('npm run sbom lists every package that is shipped, and no other', () => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-sbom-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'sbom.json')
  execFileSync(process.execPath, ['scripts/sbom.mjs', file], { stdio: 'pipe' })
  const text = readFileSync(file, 'utf8')
  const { bomFormat, metadata, components, dependencies } = JSON.parse(text) as Document
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock

  const inProduction = Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(
      ([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`,
    )
  // The console's pages are built into one script with this.
  const bundled = `preact@${packages['node_modules/preact']?.version}`
  const listed = components.map(({ group, name, version }) => {
    return `${group === undefined ? '' : `${group}/`}${name}@${version}`
  })
  expect(listed.sort()).toEqual([...new Set([...inProduction, bundled])].sort())
  expect(listed.length).toBeGreaterThan(90)

  expect(bomFormat).toBe('CycloneDX')
  expect(metadata.component.name).toBe('postern')
  expect(components.filter(({ hashes = [] }) => hashes.length === 0)).toEqual([])
  expect(text).not.toMatch(/package:development|"timestamp"/)
  const refs = new Set(components.map((component) => component['bom-ref']))
  expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((on) => !refs.has(on))).toEqual(
    [],
  )
})
