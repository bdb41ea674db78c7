import { workerData } from 'node:worker_threads'
import { answerCalls } from '../../background/answer-calls.ts'
import { lowerThreadPriority } from '../../background/thread-priority.ts'
import { renderingOf } from '../../cli/commands/renderings.ts'
import { perform, type Task } from '../../console/api/perform.ts'
import type { ThreadData } from '../../console/api/question-thread.ts'
import { createSharedStores } from '../../operations/shared-stores.ts'

/** Answers questions for the console, in a thread of its own, and keeps stores open between them. */
const { cwd, env } = workerData as ThreadData
const shared = createSharedStores()
lowerThreadPriority()

answerCalls((task: Task) => perform(task, { cwd, env, shared }, renderingOf))
