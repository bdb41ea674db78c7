import { canonicalHost } from '../../admission/canonical-host.ts'
import { assumedHostNote } from '../../admission/example-hosts.ts'
import { domainsIn, inDomain } from '../../answers/in-domain.ts'
import type { Scope } from '../../answers/query-scope.ts'
import { count } from '../../kernel/count.ts'
import { Invalid } from '../../kernel/errors.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import { domainProblem } from '../../policy/domain.ts'
import { compileAt } from '../../policy/engine/compile.ts'
import { hasDomain } from '../../policy/model/model.ts'
import { placeOf } from '../../policy/review/finding.ts'
import { isExpired, parseUntil } from '../../policy/rule/until.ts'
import type { PolicyFile, PolicySet } from '../../policy/set/policy-set.ts'
import type { Surroundings } from '../context.ts'
import { InvalidInput } from '../invalid-input.ts'
import { type PolicySettings, policySettings } from '../policy-settings.ts'
import { requireHost } from './query-target.ts'
import { isPublished, readVersion } from './versions.ts'

interface QueryOptions {
  readonly policies?: string | undefined
  readonly revision?: string | undefined
  readonly at?: string | undefined
  readonly host?: string | undefined
  readonly domain?: string | undefined
  readonly config?: string | undefined
}

/** The policy and the configuration that the user means. */
export interface PolicyQuery extends Scope {
  readonly settings: PolicySettings
  /** A directory, `live` or a revision, for the user. */
  readonly name: string
  /** The domain that the answer is about, under a model with a domain. */
  readonly domain?: string
  readonly files: readonly PolicyFile[]
  /** The policy with the lines that have expired. */
  readonly whole: PolicySet
  /** The time that the answer is about, in milliseconds. */
  readonly at: number
  /** What the answer does not consider. */
  readonly notes: readonly string[]
}

/**
 * Reads the policy that the user means: the directory or revision they name, else what the gateway of
 * the configuration loads, which is the live revision if `policy.source` is `redis`.
 */
export async function findPolicy(
  options: QueryOptions,
  io: Surroundings,
  domains: DomainNeed = 'required',
): Promise<PolicyQuery> {
  checkQuery(options)
  const settings = policySettings(options.config, io)
  const { admission: configured, note } = settings.admission()
  const named = options.host === undefined ? undefined : requireHost('host', options.host)
  const name = options.revision ?? options.policies ?? loadedBy(settings)
  const at = timeOf(options.at, io)
  const { files, set } = await readVersion(name, settings, io)
  const domain = findDomain(set, { domain: options.domain, host: named, domains, settings })
  const host = configured.policyUsesHost ? domain : named
  const admission = host === undefined ? configured : { ...configured, assumedHost: host }
  const hostNote = assumedHostNote(admission)
  const compile = () => compileAt(set, at)
  const policies = io.shared?.policies.compiled(set, at, compile) ?? compile()
  return {
    settings,
    admission,
    policies: domain === undefined ? policies : inDomain(policies, domain),
    ...(domain !== undefined && { domain }),
    whole: set,
    name,
    files,
    at,
    notes: [
      ...(note === undefined ? [] : [note]),
      ...(hostNote === undefined ? [] : [hostNote]),
      ...domainNote(set, domain),
      ...expiredNote(set, at),
    ],
  }
}

/** Whether an answer differs by domain; `token`: it does, and a token brought the domain or none. */
type DomainNeed = 'required' | 'optional' | 'token'

/** The domain to ask about. Throws what tells the user to name one, or to leave it out. */
function findDomain(
  set: PolicySet,
  {
    domain,
    host,
    domains,
    settings: { config },
  }: {
    readonly domain: string | undefined
    /** Canonical. */
    readonly host: string | undefined
    readonly domains: DomainNeed
    readonly settings: PolicySettings
  },
): string | undefined {
  const isPresent = hasDomain(set.model)
  const message = config && domainProblem(isPresent, config.policy.domain)
  if (message !== undefined) throw new Invalid([{ file: 'model.conf', message }])
  if (!isPresent && domain !== undefined) {
    throw new InvalidInput('domain', 'the model of this policy has no domain; leave it out')
  }
  if (domain === '') throw new InvalidInput(undefined, '--domain must not be empty')
  const isHost = config?.policy.domain?.from === 'host'
  const effective = isHost ? hostAsDomain(domain, host) : domain
  const isNeeded = domains === 'required' || (domains === 'token' && isHost)
  if (isPresent && effective === undefined && isNeeded) {
    const named = namesOf(domainsIn(set))
    const option = isHost ? '--host or --domain' : '--domain'
    throw new InvalidInput(
      undefined,
      `the model has a domain: name one with ${option}${named === '' ? '' : ` (the policy names ${named})`}`,
    )
  }
  return effective
}

/** No request can have another domain than its host, so an answer about two of them would be wrong. */
function hostAsDomain(domain: string | undefined, host: string | undefined): string | undefined {
  if (domain === undefined) return host
  const named = canonicalHost(domain)
  if (named === undefined) {
    throw new InvalidInput(
      'domain',
      `${JSON.stringify(domain)} is not a host (policy.domain.from is host)`,
    )
  }
  if (host === undefined || host === named) return named
  throw new InvalidInput(
    undefined,
    `--domain ${named} and the host ${host} differ, but the host is the domain (policy.domain.from is host): give one`,
  )
}

/** Without `*`, which is about every domain. */
function namesOf(domains: readonly string[]): string {
  const named = domains.filter((domain) => domain !== '*')
  const more = named.length - mostNamed
  return `${named.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const mostNamed = 5

/** A domain that no line names is most often mistyped. */
function domainNote(set: PolicySet, domain: string | undefined): readonly string[] {
  const named = domainsIn(set).filter((each) => each !== '*')
  const isNamed = (each: string) =>
    each === domain || (each.endsWith('*') && domain?.startsWith(each.slice(0, -1)) === true)
  if (domain === undefined || named.length === 0 || named.some(isNamed)) return []
  return [
    `the policy does not name the domain ${JSON.stringify(domain)}${didYouMean(domain, named)}`,
  ]
}

/** The time that `--at` names, else now. Throws `InvalidInput` when it names none. */
function timeOf(text: string | undefined, io: Surroundings): number {
  const at = text === undefined ? (io.now?.() ?? Date.now()) : parseUntil(text)
  if (typeof at === 'string') throw new InvalidInput('at', at)
  return at
}

function expiredNote({ rules, inheritances, exclusions }: PolicySet, at: number): string[] {
  const expired = [...rules, ...inheritances, ...exclusions].filter((line) => isExpired(line, at))
  const [first] = expired
  if (first === undefined) return []
  return [
    `${count(expired.length, 'line has', 'lines have')} expired and no longer ${expired.length === 1 ? 'counts' : 'count'}, for example ${placeOf(first.origin)}`,
  ]
}

/** What the gateway of this configuration loads. */
export function loadedBy(settings: PolicySettings): string {
  return settings.config?.policy.source === 'redis' ? 'live' : settings.directory
}

/** Throws `InvalidInput` when the options name no policy, or two. */
export function checkQuery({ policies, revision }: QueryOptions): void {
  if (policies !== undefined && revision !== undefined) {
    throw new InvalidInput(undefined, '--policies and --revision are both given: give one of them')
  }
  if (policies !== undefined && isPublished(policies)) {
    throw new InvalidInput(
      undefined,
      `--policies names a directory: write --revision ${policies}, or --policies ./${policies}`,
    )
  }
  if (revision !== undefined && !isPublished(revision)) {
    throw new InvalidInput(
      'revision',
      `${JSON.stringify(revision)} is not a revision: write live, or at least 12 digits of one, such as r-3f2a9c81d604`,
    )
  }
}

/** What every answer about a policy ends with. */
export function aboutPolicy({ name, policies, notes }: PolicyQuery, more: readonly string[] = []) {
  return { policy: name, revision: policies.revision, notes: [...notes, ...more] }
}

/** The policy of an answer in words: `policies, r-…`, or `r-…` alone. */
export function policyName({ name, policies, domain }: PolicyQuery): string {
  const { revision } = policies
  const where = domain === undefined ? '' : `, domain ${domain}`
  return `${revision.startsWith(name) ? revision : `${name}, ${revision}`}${where}`
}

/** Why an answer may miss something. */
export function inexact({ policies }: PolicyQuery, unasked = 0): readonly string[] {
  if (policies.set.model.casbin === undefined) {
    return ['some patterns have too many cases: not all were examined']
  }
  return [
    'Casbin evaluates this model, and only its matcher knows what a rule means: the answer is about one example call for each rule',
    ...(unasked === 0
      ? []
      : [
          `${count(unasked, 'rule has', 'rules have')} no example, or would take too long: ask "postern policy who" about single calls`,
        ]),
  ]
}
