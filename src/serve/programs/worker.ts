import type { Io } from '../../cli/io.ts'
import { hostOf, serveHere, startProcess, watchSignals } from './gateway-start.ts'

/** Runs one worker process. The supervisor starts it and tells it what to do. */
export async function worker(io: Io): Promise<number> {
  const { default: cluster } = await import('node:cluster')
  const own = cluster.worker
  if (own === undefined) {
    io.err('postern: "postern worker" is internal: run "postern serve" with application.workers\n')
    return 2
  }

  const host = hostOf(io)
  const signals = watchSignals(host)
  const stopping = Promise.withResolvers<void>()
  signals.handle(stopping.resolve, () => {})
  const { work } = await import('../../workers/worker.ts')
  const { drainMs } = await import('../shutdown.ts')
  let code = 0
  await work({
    worker: own,
    signal: stopping.promise,
    async serve({ number, config, isTerminal, ticketKeys }) {
      const base = { worker: number, pid: host.pid }
      const { log, shutdown } = await startProcess(host, config, { base, isTerminal })
      // A terminal that closes signals the supervisor as well, which alone can see that it is one.
      signals.handle(shutdown.signalReceived, () => {})
      void shutdown.begun.then(stopping.resolve)
      const asWorker = { number, ticketKeys: Buffer.from(ticketKeys, 'base64') }
      const { abortSignal } = shutdown
      const gateway = await serveHere({ config, log, env: io.env, abortSignal, asWorker })
      const mayClose = Promise.withResolvers<void>()
      const ended = shutdown.complete(() => mayClose.promise.then(gateway.close))
      return {
        ...gateway,
        apply: (next) =>
          gateway.apply(next).catch((error: Error) => {
            log.error({ reason: error.message }, 'configuration not applied by this worker')
            throw error
          }),
        async close(withinMs) {
          shutdown.begin(withinMs)
          mayClose.resolve()
          code = await ended
        },
        abort: shutdown.abort,
        abortSignal: shutdown.abortSignal,
        waitMs: () => shutdown.remainingMs() - drainMs(config),
      }
    },
  })
  return code
}
