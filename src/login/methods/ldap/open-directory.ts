import type { FeedLog } from '../../../background/feed-log.ts'
import { withTimeout } from '../../../background/with-timeout.ts'
import { Fault } from '../../../kernel/errors.ts'
import type { NameAndPassword } from '../../method-kind.ts'
import { createDeadline, type Deadline } from './deadline.ts'
import { reasonOf } from './directory-error.ts'
import { createDirectoryServers } from './directory-servers.ts'
import { createFindPerson, type Person } from './find-person.ts'
import type { DirectorySettings } from './settings.ts'

/** An LDAP directory that verifies names and passwords. */
export interface Directory {
  readonly name: string
  /** Who has this name and password; `undefined` if they are wrong. Throws a Fault if it cannot tell. */
  verify(given: NameAndPassword): Promise<Person | undefined>
  /** What `/readyz?verbose` and metrics show. */
  readonly states: ReturnType<typeof createDirectoryServers>['states']
  close(): Promise<void>
}

/** The library may miss its own timeouts; this ends the wait in any case. */
const graceMs = 250

/** Connects when the first login needs it: a gateway starts while its directory is unreachable. */
export function openDirectory(
  settings: DirectorySettings,
  log: FeedLog,
  further: () => readonly string[] = () => [],
): Directory {
  const { name, timeoutMs } = settings
  const servers = createDirectoryServers(settings, log)
  const gate = createGate(settings.maxConcurrent)
  const findPerson = createFindPerson(
    settings,
    (reason) => log.warn({ directory: name, reason }, 'directory login refused'),
    further,
  )

  /** Tells operators at the start whether the first login will succeed. */
  async function probe(): Promise<void> {
    await servers.on(createDeadline(timeoutMs), (server, deadline) => server.probe(deadline))
    log.info({ directory: name, servers: servers.states() }, 'directory reachable')
  }
  probe().catch(() => {})

  return {
    name,
    async verify(given) {
      // Refused before anything is sent: servers accept an empty password without checking it
      // (RFC 4513 5.1.2), and some cut one at NUL or trim blanks.
      const { username, password } = given
      if (username.trim() === '' || password.trim() === '') return undefined
      if (username.includes('\0') || password.includes('\0')) return undefined

      const deadline = createDeadline(timeoutMs)
      const work = gate(deadline, () =>
        servers.on(deadline, (server, left) => findPerson(given, server, left)),
      )
      return withTimeout(timeoutMs + graceMs, work).catch((error: unknown) => {
        if (error instanceof Fault) throw error
        throw new Fault('directory', { cause: error, reason: reasonOf(error) })
      })
    },
    states: servers.states,
    async close() {
      servers.close()
    },
  }
}

type Gate = <T>(deadline: Deadline, work: () => Promise<T>) => Promise<T>

/**
 * Lets `most` pieces of work run at once, and ten times as many wait. A slow directory then holds up a
 * bounded number of logins, and the rest get 503 at once.
 */
function createGate(most: number): Gate {
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
