import { readPolicyFiles } from './policy-files.ts'
import type { PolicySource } from './policy-source.ts'
import { createWatchedDirectory } from './watched-directory.ts'

/** A policy directory as a source. */
export function createPolicyDirectory(directory: string): PolicySource {
  const watched = createWatchedDirectory({
    directory,
    readFiles: readPolicyFiles,
    part: 'policies',
  })
  return { ...watched, name: 'files', read: (known) => watched.read(known?.checksum) }
}
