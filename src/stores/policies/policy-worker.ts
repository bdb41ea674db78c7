import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../thread-priority.ts'
import type { PolicyOrder } from './policy-order.ts'

/* Takes in one policy. Loads what it needs for that when it already yields to others. */
lowerThreadPriority('lower')
const { takeIn } = await import('./policy-work.ts')
takeIn(workerData as PolicyOrder, (reply, memory = []) => parentPort?.postMessage(reply, memory))
