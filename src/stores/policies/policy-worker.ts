import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../background/thread-priority.ts'
import type { PolicyTask } from './policy-task.ts'

/* Loads one policy. Lowers its priority before it imports anything large. */
lowerThreadPriority()
const { runTask } = await import('./run-policy-task.ts')
runTask(workerData as PolicyTask, (reply, memory = []) => parentPort?.postMessage(reply, memory))
