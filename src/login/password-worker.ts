import { constants, platform, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import bcrypt from 'bcrypt'
import type { Comparison } from './hashing-threads.ts'

/* Compares one password with one hash at a time, and yields to whoever has something to forward. */
yieldToOthers()
parentPort?.on('message', ({ password, hash }: Comparison) => {
  parentPort?.postMessage(bcrypt.compareSync(Buffer.from(password), hash))
})

/** On Linux priorities are those of threads: this one's is lowered, and no other's. */
function yieldToOthers(): void {
  if (platform() !== 'linux') return
  try {
    setPriority(0, constants.priority.PRIORITY_LOW)
  } catch {
    // A sandbox may forbid it: then it competes like any other thread.
  }
}
