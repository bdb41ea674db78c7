import { createRequire } from 'node:module'
import type * as Driver from 'ioredis'
import { restoreFastStrings } from './fast-strings.ts'
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
