import { foldName } from '../../kernel/reserved-headers.ts'
import { rememberNames } from '../../wire/remembered-names.ts'
import type { Carrier } from '../arrival/notes.ts'
import { type Received, shapeOf } from '../stages.ts'
import type { RelayHeaders } from './relayed-headers.ts'

/** Header changes of a route, as the configuration has them. */
export interface HeaderEditSettings {
  readonly set?: Readonly<Record<string, string>>
  readonly add?: Readonly<Record<string, string>>
  readonly remove?: readonly string[]
}

type EditHeaders = (headers: readonly string[]) => string[]

/**
 * Changes headers, given as name, value, name, value … A name that is set or removed is removed in
 * every spelling that a service folds to it; otherwise a client could send `X_Key` beside our `X-Key`.
 */
export function createHeaderEdits({ set = {}, add = {}, remove = [] }: HeaderEditSettings) {
  const gone = new Set([...remove, ...Object.keys(set)].map((name) => foldName(name.toLowerCase())))
  const isGone = rememberNames((name) => gone.has(foldName(name.toLowerCase())))
  const more = [...Object.entries(set), ...Object.entries(add)].flat()

  const edit: EditHeaders = (headers) => {
    const out: string[] = []
    for (let at = 0; at < headers.length; at += 2) {
      const name = headers[at] as string
      if (!isGone(name)) out.push(name, headers[at + 1] as string)
    }
    out.push(...more)
    return out
  }
  return edit
}

/** Specification, carriers: a response to a URL with a token must not be stored or passed on. */
const aboutAddress: ReadonlySet<string> = new Set(['cache-control', 'referrer-policy'])

/** Edits of responses, where a token in the query decides about two headers. */
export function createResponseEdits(settings: HeaderEditSettings) {
  const edit = createHeaderEdits(settings)
  const editBesideToken = createHeaderEdits({
    set: withoutAddress(settings.set),
    add: withoutAddress(settings.add),
    remove: (settings.remove ?? []).filter((name) => !isAboutAddress(name)),
  })
  return (headers: readonly string[], carrier: Carrier | undefined): string[] =>
    carrier === 'query' ? editBesideToken(headers) : edit(headers)
}

function withoutAddress(values: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !isAboutAddress(name)))
}

/** Folded, as `createHeaderEdits` compares: `Cache_Control` would otherwise remove ours. */
function isAboutAddress(name: string): boolean {
  return aboutAddress.has(foldName(name.toLowerCase()))
}

/** Relays headers with the changes of the request's route. */
export function relayWithEdits(received: Received, relayHeaders: RelayHeaders): RelayHeaders {
  const edit = shapeOf(received)?.editResponse
  if (edit === undefined) return relayHeaders
  return (head, carrier) => edit(relayHeaders(head, carrier), carrier)
}
