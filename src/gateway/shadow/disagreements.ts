import { basename } from 'node:path'
import type { Decision } from '../../policy/decide.ts'
import {
  bounds,
  type Disagreement,
  disagreementKey,
  type Ground,
} from '../../policy/shadow/evidence.ts'
import { questionOf } from '../question.ts'
import type { Identified } from '../stages.ts'

/** How the path and the user ID of a sample appear; `undefined`: not at all. */
export interface SampleShowing {
  readonly path: (path: string) => string | undefined
  readonly userId: (userId: string) => string | undefined
}

interface Group extends Pick<Disagreement, 'would' | 'role' | 'method' | 'live' | 'shadow'> {
  count: number
  readonly first: number
  last: number
  sample: Sample
}

interface Sample {
  readonly requestId: string
  readonly path: string
  readonly domain: string | undefined
  readonly userId: string
}

/**
 * Requests that the two policies decide differently, by role, method and rules. Keeps the last request
 * of each group, so that a hash is computed once per report and not once per request.
 */
export class Disagreements {
  readonly #showing: SampleShowing
  readonly #now: () => number
  readonly #groups = new Map<string, Group>()
  readonly #grounds = new WeakMap<Decision, Ground>()

  constructor(showing: SampleShowing, now: () => number) {
    this.#showing = showing
    this.#now = now
  }

  add(identified: Identified, live: Decision, shadow: Decision): void {
    const group = {
      would: shadow.allowed ? 'allow' : 'deny',
      role: identified.token?.caller.roleKey ?? '',
      method: identified.received.call.method,
      live: this.#groundOf(live),
      shadow: this.#groundOf(shadow),
    } as const
    const key = disagreementKey(group)
    const known = this.#groups.get(key)
    const now = this.#now()
    if (known !== undefined) {
      known.count++
      known.last = now
      known.sample = sampleOf(identified)
    } else if (this.#groups.size < bounds.disagreements) {
      const sample = sampleOf(identified)
      this.#groups.set(key, { ...group, first: now, last: now, count: 1, sample })
    }
  }

  /** The most frequent first. */
  list(): readonly Disagreement[] {
    return [...this.#groups.values()]
      .toSorted((a, b) => b.count - a.count)
      .map(({ sample, first, last, role, method, ...group }) => {
        const path = this.#showing.path(sample.path)
        const userId = this.#showing.userId(sample.userId)
        return {
          ...group,
          role: cut(role, bounds.name),
          method: cut(method, bounds.name),
          first: new Date(first).toISOString(),
          last: new Date(last).toISOString(),
          requestId: cut(sample.requestId, bounds.name),
          ...(path !== undefined && { path: cut(path, bounds.text) }),
          ...(sample.domain !== undefined && { domain: cut(sample.domain, bounds.text) }),
          ...(userId !== undefined && { userId: cut(userId, bounds.name) }),
        }
      })
  }

  #groundOf(decision: Decision): Ground {
    const known = this.#grounds.get(decision)
    if (known !== undefined) return known
    const ground = groundOf(decision)
    this.#grounds.set(decision, ground)
    return ground
  }
}

/** Not the request itself: it would keep its headers and its connection in memory. */
function sampleOf({ received, token }: Identified): Sample {
  const { requestId, call } = received
  const { domain } = questionOf(received, token)
  return { requestId, path: call.path, domain, userId: token?.caller.userId ?? '' }
}

function groundOf({ step, rule, exclusion }: Decision): Ground {
  const line = rule ?? exclusion
  if (line === undefined) return { step }
  const file = cut(basename(line.origin.file), bounds.name)
  return { step, rule: { file, line: line.origin.line, text: cut(textOf(line), bounds.text) } }
}

function textOf(line: NonNullable<Decision['rule'] | Decision['exclusion']>): string {
  if (!('roleKey' in line)) return `${line.method} ${line.path}`
  const { roleKey, path, method, effect, fields } = line
  const columns = fields ?? [roleKey, path, method, ...(effect === 'deny' ? ['deny'] : [])]
  return `p, ${columns.join(', ')}`
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}
