import { Worker, type WorkerOptions } from 'node:worker_threads'

/** How a thread ended: by an error that nothing in it caught, or by an exit with a code. */
type ThreadEnd =
  | { readonly cause: unknown; readonly code?: undefined }
  | { readonly cause?: undefined; readonly code: number }

/** What is preloaded for the gateway, and its secrets, stay out of such a thread. */
export const isolated = { execArgv: [], env: {} } satisfies WorkerOptions

/** Starts a thread. `end` is called once, however it ends, and no message follows. */
export function startThread<Message>(
  file: URL,
  options: WorkerOptions,
  on: {
    readonly message: (message: Message) => void
    readonly end: (how: ThreadEnd) => void
  },
): Worker {
  const thread = new Worker(file, options)
  let hasEnded = false
  function end(how: ThreadEnd): void {
    if (!hasEnded) on.end(how)
    hasEnded = true
  }
  thread.on('message', (message: Message) => hasEnded || on.message(message))
  thread.once('error', (cause) => end({ cause }))
  thread.once('exit', (code) => end({ code }))
  return thread
}

/** No answer came in time. The thread goes on: the caller decides whether to end it. */
export class CallTimeout extends Error {}

/** A thread that answers calls. It keeps the process running only while one is open. */
export type CallableThread<Task, Reply> = ReturnType<typeof startCallable<Task, Reply>>

/** Starts a thread whose file calls `answerCalls`. */
export function startCallable<Task, Reply>(
  file: URL,
  { onEnd = () => {}, ...options }: WorkerOptions & { readonly onEnd?: () => void } = {},
) {
  const open = new Map<number, PromiseWithResolvers<Reply>>()
  let calls = 0
  let ended: Error | undefined
  const thread = startThread<{ readonly id: number; readonly reply: Reply }>(file, options, {
    message: ({ id, reply }) => open.get(id)?.resolve(reply),
    end({ cause }) {
      onEnd()
      ended = new Error('thread ended', { cause })
      for (const { reject } of open.values()) reject(ended)
    },
  })

  return {
    /** Throws `CallTimeout`, or another error when the thread ends first; its cause says why. */
    async call(task: Task, timeoutMs?: number) {
      if (ended !== undefined) throw ended
      const id = ++calls
      const answer = Promise.withResolvers<Reply>()
      open.set(id, answer)
      const late = () => answer.reject(new CallTimeout())
      const timer = timeoutMs && setTimeout(late, timeoutMs)
      thread.ref()
      thread.postMessage({ id, task })
      try {
        return await answer.promise
      } finally {
        clearTimeout(timer)
        open.delete(id)
        if (open.size === 0) thread.unref()
      }
    },
    /** Ends the thread, also in the middle of a computation. */
    end: () => thread.terminate(),
  }
}
