import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../thread-priority.ts'
import type { PolicyTask } from './policy-task.ts'

/* Takes in one policy. Loads what it needs for that when it already yields to others. */
lowerThreadPriority('lower')
const { runTask } = await import('./run-policy-task.ts')
runTask(workerData as PolicyTask, (reply, memory = []) => parentPort?.postMessage(reply, memory))
