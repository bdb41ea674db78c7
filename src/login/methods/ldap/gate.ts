import { withTimeout } from '../../../background/with-timeout.ts'
import { Fault } from '../../../kernel/errors.ts'
import type { Deadline } from './deadline.ts'

type Gate = <T>(deadline: Deadline, work: () => Promise<T>) => Promise<T>

/**
 * Lets `most` pieces of work run at once, and ten times as many wait. A slow directory then holds up a
 * bounded number of logins, and the rest get 503 at once.
 */
export function createGate(most: number): Gate {
  const waiting = new Set<() => void>()
  let running = 0

  function leave(): void {
    const [next] = waiting
    if (next === undefined) running--
    else {
      waiting.delete(next)
      next()
    }
  }

  async function enter(deadline: Deadline): Promise<void> {
    if (running < most) {
      running++
      return
    }
    const tooMany = () => new Fault('directory', { reason: 'too many logins at once' })
    if (waiting.size >= 10 * most) throw tooMany()
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.add(resolve)
    await withTimeout(deadline.leftMs(), promise).catch(() => {
      // Its turn may have come in the same moment.
      if (!waiting.delete(resolve)) leave()
      throw tooMany()
    })
  }

  return async (deadline, work) => {
    await enter(deadline)
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
