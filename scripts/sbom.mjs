// Writes a CycloneDX document of what Postern ships: the packages of the lock file that are not only for
// development, and those whose code the console's script contains. `npm sbom --omit dev` leaves out every
// package that a development package needs too, so this reads the whole document of npm and filters it.
// The same lock file gives the same document: it has no time, and its number is a digest.
//
//   npm run sbom [-- FILE]        without FILE: sbom.cdx.json
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const [file = 'sbom.cdx.json'] = process.argv.slice(2)
const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8')

const shipped = new Set([...packagesOf(JSON.parse(lockText)), ...bundledInConsole()])
const whole = readWhole()
const components = whole.components
  .filter((component) => shipped.has(nameOf(component)))
  .map(asShipped)
const [{ 'bom-ref': own }, refs] = [
  whole.metadata.component,
  new Set(components.map((component) => component['bom-ref'])),
]
const { timestamp: _, ...metadata } = whole.metadata

writeFileSync(
  file,
  `${JSON.stringify(
    {
      ...whole,
      serialNumber: `urn:uuid:${digestUuid(lockText)}`,
      metadata: {
        ...metadata,
        component: { ...metadata.component, type: 'application', name: 'postern' },
      },
      components,
      dependencies: whole.dependencies
        .filter(({ ref }) => ref === own || refs.has(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((on) => refs.has(on)) })),
    },
    null,
    2,
  )}\n`,
)
console.log(`${file}: ${components.length} packages`)

/** `name@version` of each package that an installation without development packages has. */
function packagesOf({ packages }) {
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(
      ([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`,
    )
}

/** What the pages of the console import, and what that needs: the build puts it into their script. */
function bundledInConsole() {
  const { packages } = JSON.parse(lockText)
  const folder = join(root, 'console', 'src')
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
  const found = new Set()
  const add = (name) => {
    const entry = packages[`node_modules/${name}`]
    const key = `${name}@${entry?.version}`
    if (entry === undefined || found.has(key)) return
    found.add(key)
    for (const needed of Object.keys(entry.dependencies ?? {})) add(needed)
  }
  for (const text of sources) {
    for (const [, name] of text.matchAll(/from '((?:@[\w.-]+\/)?[\w-][\w.-]*)/g)) add(name)
  }
  return found
}

function readWhole() {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--offline']
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status === 0) return JSON.parse(stdout)
  console.error(`npm sbom failed: ${stderr}`)
  process.exit(1)
}

function nameOf({ group, name, version }) {
  return `${group === undefined ? '' : `${group}/`}${name}@${version}`
}

/** npm marks what the lock file marks; shipped is shipped. */
function asShipped(component) {
  const { properties = [], scope, ...rest } = component
  const isDevelopment = ({ name }) => name === 'cdx:npm:package:development'
  return {
    ...rest,
    scope: properties.some(isDevelopment) ? 'required' : scope,
    properties: properties.filter((property) => !isDevelopment(property)),
  }
}

/** A UUID of version 8 (RFC 9562), whose bits are ours to choose. */
function digestUuid(text) {
  const hex = createHash('sha256').update(text).digest('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}
