import { parentPort } from 'node:worker_threads'

/** Answers the calls that `startCallable` passes to this thread. An `answer` that throws ends it. */
export function answerCalls<Task>(answer: (task: Task) => unknown): void {
  parentPort?.on('message', async ({ id, task }: { readonly id: number; readonly task: Task }) => {
    parentPort?.postMessage({ id, reply: await answer(task) })
  })
}
