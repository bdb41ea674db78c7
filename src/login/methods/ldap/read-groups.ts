import { Fault } from '../../../kernel/errors.ts'
import type { Deadline } from './deadline.ts'
import type { Searcher } from './directory-server.ts'
import { type DirectoryEntry, textsOf } from './entry.ts'
import type { GroupSettings } from './settings.ts'
import { filledFilter } from './templates.ts'

const mostGroups = 1000
const mostLevels = 10

/** The groups of a person: values of an attribute of the entry, or entries that name the person. */
export async function readGroups(
  settings: GroupSettings | undefined,
  person: { readonly entry: DirectoryEntry; readonly username: string },
  searcher: Searcher,
  deadline: Deadline,
): Promise<readonly string[]> {
  if (settings === undefined) return []
  const { attribute, base } = settings
  if (base !== undefined) return findGroups({ ...settings, base }, person, searcher, deadline)
  return attribute === undefined ? [] : ownGroups(person.entry, attribute, searcher.url)
}

/** Active Directory shows a long list in parts, under `memberOf;range=0-1499`. */
function ownGroups(entry: DirectoryEntry, attribute: string, url: string): readonly string[] {
  const ranged = `${attribute.toLowerCase()};range=`
  if ([...entry.values.keys()].some((name) => name.startsWith(ranged))) {
    throw tooMany(
      url,
      `${attribute} has more values than the server sends at once; use groups.base`,
    )
  }
  return textsOf(entry, attribute)
}

/** Level by level where groups contain groups. Each group is asked for once, so circles end. */
async function findGroups(
  { base, filter, nested }: GroupSettings & { readonly base: string },
  { entry, username }: { readonly entry: DirectoryEntry; readonly username: string },
  searcher: Searcher,
  deadline: Deadline,
): Promise<readonly string[]> {
  const found = new Set<string>()
  let level: readonly string[] = [entry.dn]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === mostLevels) {
      throw tooMany(searcher.url, `groups are nested more than ${mostLevels} levels deep`)
    }
    const next: string[] = []
    for (const dn of level) {
      const request = {
        ...({ base, scope: 'sub', attributes: ['1.1'], most: mostGroups } as const),
        filter: filledFilter(filter, { dn, username }),
      }
      for (const { dn: group } of await searcher.search(request, deadline)) {
        if (found.has(group)) continue
        found.add(group)
        next.push(group)
      }
      if (found.size >= mostGroups) throw tooMany(searcher.url, `more than ${mostGroups} groups`)
    }
    level = nested ? next : []
  }
  return [...found]
}

/** A list that was cut could miss the group that decides. */
function tooMany(url: string, what: string): Fault {
  return new Fault('directory', { reason: `${url}: ${what}` })
}
