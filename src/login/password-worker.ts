import { parentPort } from 'node:worker_threads'
import bcrypt from 'bcrypt'
import { lowerThreadPriority } from '../thread-priority.ts'
import type { Comparison } from './hashing-threads.ts'

/* Compares one password with one hash at a time. Threads that forward requests go first. */
lowerThreadPriority()
parentPort?.on('message', ({ password, hash }: Comparison) => {
  parentPort?.postMessage(bcrypt.compareSync(Buffer.from(password), hash))
})
