import { randomBytes } from 'node:crypto'
import { Fault } from '../../../kernel/errors.ts'
import { foldedName } from '../../folded-name.ts'
import type { NameAndPassword } from '../../method-kind.ts'
import type { Deadline } from './deadline.ts'
import type { DirectoryConnection } from './directory-connection.ts'
import type { DirectoryServer, Searcher } from './directory-server.ts'
import { type DirectoryEntry, subjectOf, textOf, textsOf } from './entry.ts'
import { readGroups } from './read-groups.ts'
import type { DirectorySettings, SearchSettings } from './settings.ts'
import { filledDn, filledFilter, filledText, nameComparisons } from './templates.ts'

/** The entry of someone whose password was right. */
export interface Person {
  /** The lasting ID of the entry. */
  readonly subject: string
  readonly username: string
  readonly displayName: string | undefined
  readonly email: string | undefined
  /** DNs, or the values of the configured attribute as they are. */
  readonly groups: readonly string[]
  readonly entry: DirectoryEntry
}

/**
 * Asks one server for the person with this name and password; `undefined` if they are wrong.
 * `onRefused` sees why a login was refused, for the log. `further` attributes are read, too.
 */
export function createFindPerson(
  settings: DirectorySettings,
  onRefused: (reason: string) => void,
  further: () => readonly string[],
) {
  const { search, userDn, userPrincipal, bindDn, groups } = settings

  async function findPerson(
    given: NameAndPassword,
    server: DirectoryServer,
    deadline: Deadline,
  ): Promise<Person | undefined> {
    const own = await server.connect(deadline)
    try {
      const entry = await verify(given, { server, own, deadline })
      if (entry === undefined) {
        if (own.accountState !== undefined) onRefused(own.accountState)
        return undefined
      }
      const person = toPerson(entry, server.url)
      const searcher = bindDn === undefined ? own : server
      const { username } = person
      return {
        ...{ ...person, entry },
        groups: await readGroups(groups, { entry, username }, searcher, deadline),
      }
    } finally {
      own.close()
    }
  }

  function verify(given: NameAndPassword, asked: Asked): Promise<DirectoryEntry | undefined> {
    if (userPrincipal !== undefined) return byPrincipal(given, asked, userPrincipal)
    if (userDn !== undefined) return byDn(given, asked, userDn)
    return bySearch(given, asked)
  }

  /** The service account finds the entry, and the password is tried on its DN. */
  async function bySearch(
    { username, password }: NameAndPassword,
    { server, own, deadline }: Asked,
  ) {
    const entry = await find(username, server, deadline)
    if (entry === undefined) {
      // As long as for a name that exists, so that times tell less about names.
      const nowhere = `cn=${randomBytes(9).toString('hex')},${search?.base}`
      await own.bind(nowhere, randomBytes(12).toString('hex'), deadline)
      return undefined
    }
    return (await own.bind(entry.dn, password, deadline)) ? entry : undefined
  }

  async function byDn(
    { username, password }: NameAndPassword,
    { server, own, deadline }: Asked,
    form: string,
  ) {
    if (!isPlainName(username)) return undefined
    const dn = filledDn(form, { username })
    if (!(await own.bind(dn, password, deadline))) return undefined
    const filter = '(objectClass=*)'
    const request = { base: dn, scope: 'base', filter, attributes: wanted(), most: 2 } as const
    const [entry] = await own.search(request, deadline)
    if (entry === undefined) {
      throw unusable(server.url, `${dn} may not read its own entry; allow it`)
    }
    return entry
  }

  /**
   * A principal name says nothing about which entry has the name that the filter compares: Ann may have
   * the principal name bob@corp.example. So the password must be that of the entry that was found.
   */
  async function byPrincipal(
    { username, password }: NameAndPassword,
    { server, own, deadline }: Asked,
    form: string,
  ) {
    if (!isPlainName(username)) return undefined
    if (!(await own.bind(filledText(form, username), password, deadline))) return undefined
    const entry = await find(username, own, deadline)
    if (entry === undefined) return undefined
    const second = await server.connect(deadline)
    try {
      if (await second.bind(entry.dn, password, deadline)) return entry
      onRefused('the principal name and the entry that was found are those of two people')
      return undefined
    } finally {
      second.close()
    }
  }

  async function find(username: string, searcher: Searcher, deadline: Deadline) {
    const { base, scope, filter } = search as SearchSettings
    const compared = nameComparisons(filter)
    const names = compared.map(({ attribute }) => attribute)
    const entries = await searcher.search(
      {
        ...{ base, scope, attributes: [...wanted(), ...names], most: 2 },
        filter: filledFilter(filter, { username }),
      },
      deadline,
    )
    const [entry, second] = entries
    if (entry === undefined) return undefined
    if (second !== undefined) {
      onRefused(`several entries have the name: ${entry.dn}; ${second.dn}`)
      return undefined
    }
    // Directories ignore more than the throttle folds: blanks at the front, accents, width. Each such
    // spelling would give an attacker further guesses at the same password.
    const isSame = compared.some(({ attribute, form }) =>
      textsOf(entry, attribute).some(
        (value) => foldedName(value) === foldedName(filledText(form, username)),
      ),
    )
    if (isSame) return entry
    onRefused('the name is spelled otherwise than in the directory')
    return undefined
  }

  function wanted(): readonly string[] {
    const { attribute } = groups ?? {}
    // A directory may refuse a search for something that cannot be the name of an attribute.
    const names = further().filter((name) => /^[A-Za-z][\w-]*$/.test(name))
    return [...Object.values(settings.attributes), attribute ?? [], names].flat()
  }

  function toPerson(entry: DirectoryEntry, url: string): Omit<Person, 'groups' | 'entry'> {
    const { subject: subjectAttribute, username: nameAttribute, ...further } = settings.attributes
    const subject = subjectOf(entry, subjectAttribute)
    const username = textOf(entry, nameAttribute)
    if (subject === undefined || username === undefined) {
      const [setting, name] =
        subject === undefined ? ['subject', subjectAttribute] : ['username', nameAttribute]
      const cure = `set login.ldap.attributes.${setting}`
      throw unusable(url, `${entry.dn} has no usable ${name}; ${cure}`)
    }
    return {
      ...{ subject, username },
      displayName: textOf(entry, further.displayName),
      email: textOf(entry, further.email),
    }
  }

  return findPerson
}

interface Asked {
  readonly server: DirectoryServer
  /** For the bind of this login alone. */
  readonly own: DirectoryConnection
  readonly deadline: Deadline
}

/** Without spellings that a directory may ignore: its entry is not compared with it before the bind. */
function isPlainName(typed: string): boolean {
  return /^[!-~]+$/.test(typed)
}

/** The trouble of one entry: the server works, and another one would say the same. */
function unusable(url: string, what: string): Fault {
  return new Fault('directory', { reason: `${url}: ${what}` })
}
