import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/*
 * Everything the gateway changes about V8, in one place, but for what commands need too: that of the
 * embedded database (`stores/embedded`) and of the Redis driver (`stores/redis/redis-driver.ts`). Each
 * part was found in a trace or a profile and measured: docs/decisions/0014-a-settled-process.md. None
 * changes what the gateway answers. A V8 that does not know a flag prints that and goes on.
 */

/** Call it when all modules are loaded and before a port is open: it takes 50 to 70 ms. */
export function settleProcess(): void {
  keepRequestsYoung()
  collectOldGenerationLess()
  releaseStartupMemory()
}

/**
 * With a thousand requests in flight most objects outlive a collection, and V8 starts to allocate them
 * in the old generation. Dead ones there keep the rest of their request alive: several times the
 * memory, and a sixth of the CPU.
 */
function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/**
 * V8 collects the old generation when it has grown by half, and one revision of a large policy is
 * enough for that: 40 ms of work and a pause of up to 13 ms. Busy gateways let it grow this much anyway.
 */
function collectOldGenerationLess(): void {
  setFlagsFromString('--heap-growing-percent=200')
}

/** Loading modules and policies needs much memory for a moment, which V8 would keep. */
function releaseStartupMemory(): void {
  const collect = globalThis.gc ?? findCollect()
  // Only this flavor releases the young generation too.
  collect?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

/** `gc` without `--expose-gc`; `undefined` if V8 has renamed it. */
function findCollect(): NodeJS.GCFunction | undefined {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  return collect
}
