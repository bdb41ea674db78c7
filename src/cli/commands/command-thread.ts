import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../background/thread-priority.ts'
import { perform } from '../../console/api/call-command.ts'
import type { Task, ThreadData } from '../../console/api/question-thread.ts'
import { createSharedStores } from '../../console/stores/shared-stores.ts'
import { findCommand } from './table.ts'

/** Runs commands for the console, in a thread of its own, and keeps stores open between them. */
const { cwd, env } = workerData as ThreadData
const shared = createSharedStores()
lowerThreadPriority()

parentPort?.on('message', async ({ id, task }: { readonly id: number; readonly task: Task }) => {
  const command = await findCommand(task.command)
  if (command === undefined) throw new Error(`unknown command ${task.command}`)
  const printed = await perform(command, task, { cwd, env, shared })
  parentPort?.postMessage({ id, printed })
})
