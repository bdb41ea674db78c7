import { captchaAlias } from '../../kernel/endpoints.ts'
import type { Finding, Locate } from '../review/finding.ts'
import { placeOf } from '../review/finding.ts'
import type { Exclusion, Rule } from '../rule/rule.ts'
import { builtInExclusions } from '../set/built-in-exclusions.ts'
import type { PolicySet } from '../set/policy-set.ts'

/** Spec, Permission exclusion list: login, logout, captcha, one's own profile; and one's own password. */
const publicEndpoints: ReadonlySet<string> = new Set([
  ...builtInExclusions.map(({ method, path }) => `${method} ${path}`),
  `GET ${captchaAlias}`,
])

const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Finds exclusions that look like business endpoints, which every logged-in caller could then call
 * (spec, Authentication 6): methods that change data, paths with a parameter, and resources for which
 * the policy has rules. Skips the public endpoints of the specification.
 */
export function checkExclusions({ rules, exclusions }: PolicySet, locate: Locate): Finding[] {
  if (exclusions.length === 0) return []
  const protectedBy = new Map<string, Rule>()
  for (const rule of rules) {
    const resource = resourceOf(rule.path)
    if (resource !== undefined && !protectedBy.has(resource)) protectedBy.set(resource, rule)
  }
  return exclusions
    .filter(({ method, path }) => !publicEndpoints.has(`${method} ${path}`))
    .flatMap((exclusion) => doubtsAbout(exclusion, protectedBy, locate))
}

function doubtsAbout(
  { method, path, origin }: Exclusion,
  protectedBy: ReadonlyMap<string, Rule>,
  locate: Locate,
): Finding[] {
  const at = { ...locate(origin, 'line'), column: 1 }
  const exposure = 'every logged-in caller can call it, whatever the role'
  const findings: Finding[] = []
  const resource = resourceOf(path)
  const rule = resource === undefined ? undefined : protectedBy.get(resource)
  if (rule !== undefined) {
    const message = `${method} ${path} is excluded, but ${placeOf(rule.origin)} has a rule for ${resource}: ${exposure}`
    findings.push({ ...at, code: 'exclusion-business', message })
  }
  if (path.includes('/:')) {
    const message = `${method} ${path} is excluded for every value of its parameter: ${exposure}`
    findings.push({ ...at, code: 'exclusion-wide', message })
  }
  if (!readingMethods.has(method)) {
    const message = `${method} ${path} is excluded, but ${method} changes data: ${exposure}`
    findings.push({ ...at, code: 'exclusion-changes', message })
  }
  return findings
}

/** `/api/v1/orders` for all that lies below it; nothing for patterns that name no resource. */
function resourceOf(path: string): string | undefined {
  const [whole, name = ''] = /^(?:\/api)?(?:\/v\d+)?\/([^/]+)/.exec(path) ?? []
  return whole === undefined || name.startsWith(':') || name.includes('*') ? undefined : whole
}
