import { createRequire } from 'node:module'
import type * as Driver from 'ioredis'
import { dropOnInvalidReply } from './redis-invalid-replies.ts'

let loaded: typeof Driver | undefined

/** Loaded for the first connection: its sixty files are expensive at the start of a gateway without Redis. */
export function loadDriver(): typeof Driver {
  if (loaded === undefined) {
    loaded = createRequire(import.meta.url)('ioredis') as typeof Driver
    dropOnInvalidReply()
    restoreFastStrings()
  }
  return loaded
}

/**
 * Once a class extends String (the driver has one), V8 looks up the methods of all strings the slow way,
 * because it rebuilds a prototype that something inherits from: reading a policy and deciding by it
 * take up to three times the CPU. Reading the prototype through objects makes it fast again; primitive
 * strings do not count as such.
 */
function restoreFastStrings(): void {
  const read = (text: object) => 'slice' in text
  for (let at = 0; at < 100; at++) read(Object('text'))
}
