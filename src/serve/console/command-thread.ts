import { workerData } from 'node:worker_threads'
import { answerCalls } from '../../background/answer-calls.ts'
import { lowerThreadPriority } from '../../background/thread-priority.ts'
import { findCommand } from '../../cli/commands/table.ts'
import { perform } from '../../console/api/call-command.ts'
import type { Task, ThreadData } from '../../console/api/question-thread.ts'
import { createSharedStores } from '../../operations/kept-stores.ts'

/** Runs commands for the console, in a thread of its own, and keeps stores open between them. */
const { cwd, env } = workerData as ThreadData
const shared = createSharedStores()
lowerThreadPriority()

answerCalls(async (task: Task) => {
  const command = await findCommand(task.command)
  if (command === undefined) throw new Error(`unknown command ${task.command}`)
  return perform(command, task, { cwd, env, shared })
})
