import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { atExit } from '../run/at-exit.ts'
import type { AttackOrder, AttackOutcome } from './attack.ts'
import type { CallOrder, CallOutcome } from './calls.ts'

export type Order = AttackOrder | CallOrder

/** Attacker and good client, in processes of their own: neither waits for the other. */
export interface Workers {
  attack(order: AttackOrder): Promise<AttackOutcome>
  call(order: CallOrder): Promise<CallOutcome>
  stop(): void
}

export function startWorkers(): Workers {
  const [attacker, caller] = [start(), start()]
  const forget = atExit(stop)

  function stop(): void {
    attacker.kill('SIGKILL')
    caller.kill('SIGKILL')
  }
  return {
    attack: (order) => ask<AttackOutcome>(attacker, order),
    call: (order) => ask<CallOutcome>(caller, order),
    stop() {
      forget()
      stop()
    },
  }
}

function start(): ChildProcess {
  return fork(join(import.meta.dirname, 'worker.ts'))
}

/** Rejects if the process ends instead. */
async function ask<Outcome>(child: ChildProcess, order: Order): Promise<Outcome> {
  const over = new AbortController()
  const ended = once(child, 'exit', { signal: over.signal }).then(() => {
    throw new Error('a load process has ended')
  })
  child.send(order)
  try {
    const [outcome] = await Promise.race([once(child, 'message', { signal: over.signal }), ended])
    return outcome as Outcome
  } finally {
    ended.catch(() => {})
    over.abort()
  }
}
