import { createRequire } from 'node:module'
import type * as PublicSuffixes from 'tldts'
import { canonicalHost } from '../../admission/canonical-host.ts'
import { subject } from '../../kernel/quote.ts'
import { modeFacts } from '../mode.ts'
import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'
import { originProblem } from './forwarding/cors.ts'

/** Browsers must not drop the cookie, nor send it to hosts of strangers. */
export function checkCookie({ application, cookie }: Draft, report: Report): void {
  const mode = application?.mode
  const secure = modeFacts(mode, 0).secureCookie
  if (cookie?.set && cookie.sameSite === 'none' && !secure) {
    report.problem(
      'cookie.sameSite',
      `: "none" requires a Secure cookie, which mode ${subject(mode)} does not set; use lax or strict`,
    )
  }
  report.checkEach('cookie.trustedOrigins', cookie?.trustedOrigins, originProblem)
  report.check('cookie.domain', cookie?.domain, domainProblem)
}

function domainProblem(domain: string): string | undefined {
  const shown = subject(domain)
  const canonical = canonicalHost(domain)
  if (canonical === undefined || /\.\d+$/.test(canonical)) {
    return `${shown} is not a domain; write one such as example.com`
  }
  if (canonical !== domain) return `${shown} is not in canonical form; write ${canonical}`
  // Loaded for this setting only: the list is 200 kB of code.
  const { getDomain } = createRequire(import.meta.url)('tldts') as typeof PublicSuffixes
  if (getDomain(domain, { allowPrivateDomains: true, validateHostname: false }) !== null)
    return undefined
  return `${shown} is a public suffix: browsers reject such a cookie, because hosts of strangers would get it; write your own domain, such as app.${domain}`
}
