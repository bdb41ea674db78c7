import type { IsOwnToken } from '../token/tokens.ts'
import type { Carrier } from './arrival/notes.ts'
import { carriedTexts, carriersOf } from './carriers.ts'
import type { Received } from './stages.ts'

const everyCarrier = ['header', 'query', 'cookie'] as const

/**
 * The carriers that belong to the service, on a route that names its own. One in which the client sends a
 * token of ours is not among them: a browser adds our cookie to every request, and the service must not
 * get a token with which it could act as the caller.
 */
export async function findPassedCarriers(
  received: Received,
  isOwnToken: IsOwnToken,
): Promise<ReadonlySet<Carrier>> {
  const read: readonly string[] = carriersOf(received) ?? everyCarrier
  const passed = new Set<Carrier>()
  for (const carrier of everyCarrier) {
    // With HTTP Basic, the header Authorization is ours.
    if (read.includes(carrier) || (carrier === 'header' && read.includes('basic'))) continue
    if (!(await hasOwnToken(carriedTexts(carrier, received), isOwnToken))) passed.add(carrier)
  }
  return passed
}

/** More in one value are not credentials of a service. */
const maxTokens = 8

async function hasOwnToken(texts: readonly string[], isOwnToken: IsOwnToken): Promise<boolean> {
  const found = texts.flatMap(tokensIn)
  if (found.length > maxTokens) return true
  for (const token of found) if (await isOwnToken(token)) return true
  return false
}

/**
 * Everything with the shape of a JWT, wherever it is: after `Bearer`, after a version such as `v1.`, or
 * alone. One expression for all three parts would backtrack over a long value for seconds (CWE-1333).
 */
function tokensIn(text: string): string[] {
  const runs = text.match(/[\w.-]+/g) ?? []
  return runs.flatMap((run) => {
    const parts = run.split('.')
    return parts.slice(2).map((last, at) => `${parts[at]}.${parts[at + 1]}.${last}`)
  })
}
