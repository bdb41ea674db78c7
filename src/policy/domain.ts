/** Where Casbin's domain of a request comes from: its host, or a claim of its token. */
export interface DomainSource {
  readonly from: 'host' | 'claim'
  /** The name of the claim, or a JSON pointer to it. */
  readonly claim?: string | undefined
}

/**
 * Why a gateway cannot decide by a model: only one of model and configuration has a domain. `undefined`
 * if they agree.
 */
export function domainProblem(
  hasDomain: boolean,
  source: DomainSource | undefined,
): string | undefined {
  if (hasDomain === (source !== undefined)) return undefined
  return hasDomain
    ? 'the request has a domain, but the configuration does not say where it comes from: set policy.domain.from to host or claim'
    : 'policy.domain is set, but the request has no domain: write "r = sub, dom, obj, act" in model.conf, or remove policy.domain'
}
