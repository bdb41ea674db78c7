import { join } from 'node:path'

/** The directory of everything that a benchmark needs. */
export const bench = join(import.meta.dirname, '..')

/** The checkout that this benchmark is in. */
export const checkout = join(bench, '..')

/** A configuration of a peer. */
export function fileOfPeers(name: string): string {
  return join(bench, 'peers', name)
}
