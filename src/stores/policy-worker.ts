import { parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from '../thread-priority.ts'
import type { PolicyOrder } from './policy-order.ts'

/* Takes in one policy at a time. Loads what it needs for that when it already yields to others. */
lowerThreadPriority('lower')
const { takeIn } = await import('./policy-work.ts')
parentPort?.on('message', (order: PolicyOrder) => {
  takeIn(order, (reply, memory = []) => parentPort?.postMessage(reply, memory))
})
