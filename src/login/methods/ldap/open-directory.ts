import type { FeedLog } from '../../../background/feed-log.ts'
import { createGate } from '../../../background/gate.ts'
import { withTimeout } from '../../../background/with-timeout.ts'
import { Fault } from '../../../kernel/errors.ts'
import type { NameAndPassword } from '../../method-kind.ts'
import { createDeadline } from './deadline.ts'
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
  const { name, timeoutMs, maxConcurrent } = settings
  const servers = createDirectoryServers(settings, log)
  // A slow directory holds up a bounded number of logins; the rest get 503 at once.
  const inTurn = createGate({
    running: maxConcurrent,
    waiting: 10 * maxConcurrent,
    tooMany: () => new Fault('directory', { reason: 'too many logins at once' }),
  })
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
      const work = inTurn(
        () => servers.on(deadline, (server, left) => findPerson(given, server, left)),
        deadline.leftMs(),
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
