import { readFileSync } from 'node:fs'

const manifest = new URL('../../package.json', import.meta.url)

const { version: own, engines } = JSON.parse(readFileSync(manifest, 'utf8'))

export const version: string = own

/** The oldest Node that runs Postern, such as `22.19`. */
export const oldestNode: string = String(engines.node).replace(/^>=/, '')

/** Whether a Node of this version is too old. Nothing here is newer than the Nodes that it refuses. */
export function isTooOld(node: string): boolean {
  const [major, minor] = node.split('.').map(Number)
  const [least, leastMinor] = oldestNode.split('.').map(Number)
  return Number(major) < Number(least) || (major === least && Number(minor) < Number(leastMinor))
}
