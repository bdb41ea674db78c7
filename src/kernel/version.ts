import { existsSync, readFileSync } from 'node:fs'

const manifest = new URL('../../package.json', import.meta.url)

const { version: own, engines } = JSON.parse(readFileSync(manifest, 'utf8'))

export const version: string = own

/** The build writes it beside the compiled program. */
const stamp = new URL('../commit', import.meta.url)

/** The commit that this program was built from, `-dirty` when files had changed; empty if no build said so. */
export const builtFrom: string = existsSync(stamp) ? readFileSync(stamp, 'utf8').trim() : ''

const [, hash, dirty] = /^([0-9a-f]{7,12})[0-9a-f]*(-dirty)?$/.exec(builtFrom) ?? []

/** Tells two builds of a version apart, as semver.org says: `0.1.0+1a2b3c4d5e6f`. */
export const build: string = hash === undefined ? own : `${own}+${hash}${dirty ? '.dirty' : ''}`

/** The oldest Node that runs Postern, such as `22.19`. */
export const oldestNode: string = String(engines.node).replace(/^>=/, '')

/** Whether a Node of this version is too old. Nothing here is newer than the Nodes that it refuses. */
export function isTooOld(node: string): boolean {
  const [major, minor] = node.split('.').map(Number)
  const [least, leastMinor] = oldestNode.split('.').map(Number)
  return Number(major) < Number(least) || (major === least && Number(minor) < Number(leastMinor))
}
