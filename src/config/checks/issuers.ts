import { keyUrlProblem } from '../../kernel/key-url.ts'
import { subject } from '../../kernel/quote.ts'
import { issuerName } from '../issuers.ts'
import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'

type IssuerDraft = NonNullable<NonNullable<Draft['issuers']>[number]>
type Say = (key: string, problem: string) => void

/** Every issuer is distinct, has one source of keys, and times that fit together. */
export function checkIssuers(draft: Draft, report: Report): void {
  const firstIssuer = new Map<string, string>()
  const firstName = new Map<string, string>()
  const prefixes: Prefix[] = []

  draft.issuers?.forEach((each, index) => {
    const at = `issuers[${index}]`
    if (each === undefined) return
    const say: Say = (key, problem) => report.firstProblem(`${at}.${key}`, problem)
    checkDistinct(each, at, { firstIssuer, firstName }, say)
    checkPrefix(each, at, prefixes, say)
    checkKeySource(each, say)
    checkRoles(each, say)
    checkTimes(each, say)
  })
}

function checkDistinct(
  each: IssuerDraft,
  at: string,
  seen: { firstIssuer: Map<string, string>; firstName: Map<string, string> },
  say: Say,
): void {
  const { issuer } = each
  if (issuer === undefined) return
  const same = seen.firstIssuer.get(issuer)
  if (same !== undefined) say('issuer', `: ${subject(issuer)} is already that of ${same}; keep one`)
  seen.firstIssuer.set(issuer, same ?? at)

  const name = issuerName(each)
  if (name === undefined) {
    say('name', ' is required, because the issuer is not a URL with a host name; give a short name')
    return
  }
  const sameName = seen.firstName.get(name)
  if (sameName !== undefined && same === undefined) {
    say('name', `: ${subject(name)} is already the name of ${sameName}; give another name`)
  }
  seen.firstName.set(name, sameName ?? at)
}

interface Prefix {
  readonly at: string
  readonly prefix: string
}

/**
 * With `a-` and `a-b-`, user `b-1` of one issuer would have the ID of user `1` of the other. The same prefix
 * twice is a decision: an issuer that moved keeps its users. An empty one is documented to remove the guard.
 */
function checkPrefix(each: IssuerDraft, at: string, seen: Prefix[], say: Say): void {
  const { userIdPrefix: prefix = `${issuerName(each) ?? ''}:` } = each
  if (prefix === '') return
  const other = seen.find((one) => one.prefix !== prefix && isNested(one.prefix, prefix))
  if (other !== undefined) {
    const [inner, outer] = [prefix, other.prefix].toSorted((a, b) => a.length - b.length)
    say(
      'userIdPrefix',
      `: ${subject(prefix)} and ${subject(other.prefix)} of ${other.at} give two users one ID, because ${subject(outer)} starts with ${subject(inner)}; use another prefix`,
    )
  }
  seen.push({ at, prefix })
}

function isNested(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one)
}

function checkKeySource({ issuer, jwksUri, discovery }: IssuerDraft, say: Say): void {
  if (jwksUri !== undefined && discovery === true) {
    say('discovery', ' and jwksUri cannot be combined; keep one')
    return
  }
  if (jwksUri !== undefined) {
    const problem = keyUrlProblem(jwksUri)
    if (problem !== undefined) say('jwksUri', ` ${problem}`)
    return
  }
  if (discovery !== true) {
    say('jwksUri', ' is required: give the URL of the public keys, or set discovery to true')
    return
  }
  const problem = issuer === undefined ? undefined : keyUrlProblem(issuer)
  if (problem !== undefined) say('issuer', ` ${problem} (required by discovery)`)
  else if (issuer?.includes('?')) say('issuer', ' must not contain a query; give jwksUri instead')
}

function checkRoles({ roles }: IssuerDraft, say: Say): void {
  const first = new Map<string, number>()
  roles?.forEach((each, index) => {
    const value = each?.value
    if (value === undefined) return
    const same = first.get(value)
    if (same !== undefined) {
      say(
        `roles[${index}].value`,
        `: ${subject(value)} is already that of roles[${same}], which wins; remove one`,
      )
    }
    first.set(value, same ?? index)
  })
}

function checkTimes(each: IssuerDraft, say: Say): void {
  const { refreshSeconds = 0, cooldownSeconds = 0, maxKeyAgeSeconds = Infinity } = each
  if (refreshSeconds < cooldownSeconds) {
    say(
      'refreshSeconds',
      `: ${refreshSeconds} is less than cooldownSeconds (${cooldownSeconds}); use at least ${cooldownSeconds}`,
    )
  }
  // Keys would be too old before their next fetch is due.
  if (maxKeyAgeSeconds < 2 * refreshSeconds) {
    say(
      'maxKeyAgeSeconds',
      `: ${maxKeyAgeSeconds} is less than twice refreshSeconds (${refreshSeconds}); use at least ${2 * refreshSeconds}`,
    )
  }
}
