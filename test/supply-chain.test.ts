import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      { readonly version?: string; readonly resolved?: string; readonly hasInstallScript?: boolean }
    >
  >
}
interface Manifest {
  readonly engines: { readonly node: string }
  readonly [kind: string]: unknown
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
const list = JSON.parse(readFileSync('test/minimum-versions.json', 'utf8')) as {
  readonly refuseBelow: Readonly<Record<string, readonly string[]>>
  readonly refuse: Readonly<Record<string, string>>
}

const installed = Object.entries(lock.packages)
  .filter(([path]) => path.startsWith('node_modules/'))
  .map(([path, { version = '' }]) => ({
    name: path.slice(path.lastIndexOf('node_modules/') + 13),
    version,
  }))

const parts = (version: string) => version.split('-')[0]?.split('.').map(Number) ?? []

function isBelow(version: string, floor: string): boolean {
  const [a, b] = [parts(version), parts(floor)]
  for (const [at, number] of b.entries()) {
    if ((a[at] ?? 0) !== number) return (a[at] ?? 0) < number
  }
  return false
}

/** The floor of the version's own major line, where the list has several lines. */
function floorFor(version: string, floors: readonly string[]): string {
  return floors.find((floor) => parts(floor)[0] === parts(version)[0]) ?? floors.at(-1) ?? ''
}

describe('the lockfile', () => {
  test('has no package below the version that fixed its advisories', () => {
    const below = installed.filter(({ name, version }) => {
      const floors = list.refuseBelow[name]
      return floors !== undefined && isBelow(version, floorFor(version, floors))
    })

    expect(below).toEqual([])
  })

  test('has none of the packages that are not to be used', () => {
    expect(installed.filter(({ name }) => name in list.refuse)).toEqual([])
  })

  test('names no registry, so that each machine uses its own', () => {
    expect(Object.values(lock.packages).filter(({ resolved }) => resolved !== undefined)).toEqual(
      [],
    )
  })

  test('pins exact versions for everything that is asked for', () => {
    const kinds = ['dependencies', 'devDependencies', 'optionalDependencies']
    const versions = kinds.flatMap((kind) =>
      Object.values((manifest[kind] ?? {}) as Record<string, string>),
    )

    expect(versions.filter((version) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([])
    expect(versions.length).toBeGreaterThan(10)
  })

  test('asks for a runtime that is still maintained', () => {
    expect(manifest.engines.node).toBe('>=22.19')
    expect(isBelow(process.versions.node, '22.19.0')).toBe(false)
  })
})

describe('the lockfile of the documentation site', () => {
  const siteLock = JSON.parse(readFileSync('site/package-lock.json', 'utf8')) as Lock
  const entries = Object.values(siteLock.packages)

  test('names no registry, and has no package that needs its install script', () => {
    expect(entries.length).toBeGreaterThan(100)
    expect(
      entries.filter(({ resolved, hasInstallScript }) => resolved ?? hasInstallScript ?? false),
    ).toEqual([])
  })

  test('has the exact versions that site/package.json asks for', () => {
    const { dependencies = {}, overrides = {} } = JSON.parse(
      readFileSync('site/package.json', 'utf8'),
    ) as Record<string, Readonly<Record<string, string>>>
    const wanted = Object.entries({ ...dependencies, ...overrides })

    expect(wanted.length).toBeGreaterThan(1)
    expect(
      wanted.filter(([name, version]) => {
        return siteLock.packages[`node_modules/${name}`]?.version !== version
      }),
    ).toEqual([])
  })
})

describe('comparing versions', () => {
  test.each([
    ['1.2.3', '1.2.4', true],
    ['1.2.4', '1.2.4', false],
    ['1.10.0', '1.9.9', false],
    ['0.9.9', '1.0.0', true],
  ])('says whether %s is below %s: %s', (version, floor, below) => {
    expect(isBelow(version, floor)).toBe(below)
  })
})
