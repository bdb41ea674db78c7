import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { quickenStrings } from './quick-strings.ts'

/** To be called when all is loaded, while nobody waits yet: it takes a twentieth of a second. */
export function settleProcess(): void {
  quickenStrings()
  keepRequestsYoung()
  collectOldSeldom()
  giveBackMemory()
}

/**
 * V8 makes objects in the old generation at once where most of those from the same line of code
 * have lived for long, as they do while a thousand requests are under way. From then on what is
 * made there, over and forgotten, keeps all that it leads to from being collected with the young,
 * until the old generation is: several times the memory, and a sixth of the CPU.
 */
function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/**
 * A revision of a large policy is tens of megabytes. V8 collects the old generation as soon as it has
 * grown by a half, which each of them was enough for: 40 ms of work and a pause of up to 13, while
 * others wait. It may grow by twice its size, as it does anyway in a busy gateway.
 */
function collectOldSeldom(): void {
  setFlagsFromString('--heap-growing-percent=200')
}

/** To load and to read policies takes much room for a moment, which V8 would keep for ever. */
function giveBackMemory(): void {
  const collect = globalThis.gc ?? findCollect()
  // The only way that lets go of the room for what is new as well.
  collect?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

/** Where nobody has asked for it to be shown; `undefined` if it has another name. */
function findCollect(): NodeJS.GCFunction | undefined {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  return collect
}
