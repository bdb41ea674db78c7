import { isCertificateProblem } from '../../gateway/upstream/certificate-problems.ts'

/** What failed to connect, and the settings that could fix it. */
interface Connecting {
  /** Such as "Redis". */
  readonly server: string
  /** The setting with its address. */
  readonly address: string
  /** How to trust its certificate. */
  readonly trust: string
}

/** Why a connection failed, in the words of the system, and what to do about it. */
export function connectionFailure(
  error: unknown,
  { server, address, trust }: Connecting,
): { readonly reason: string; readonly fix: string } {
  const { reason, code } = innermost(error)
  return { reason, fix: fixOf(code, reason) }

  function fixOf(code: string, text: string): string {
    const says = (pattern: RegExp) => pattern.test(code) || pattern.test(text)
    if (says(/ENOTFOUND|EAI_AGAIN|no address/)) {
      return `correct the host in ${address}, or the name server of this machine`
    }
    if (says(/ECONNREFUSED/)) return `start ${server} there, or correct ${address}`
    if (says(/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timeout/i)) {
      return `check that ${server} runs and that no firewall is in between, or correct ${address}`
    }
    if (says(/CERT_HAS_EXPIRED|certificate has expired/i)) {
      return `renew the certificate of ${server}`
    }
    if (says(/ALTNAME|HOSTNAME_MISMATCH|altnames/)) {
      return `use a name that is in its certificate in ${address}, or issue a certificate for this one`
    }
    if (isCertificateProblem(code) || says(/self.signed|unable to verify|local issuer/i)) {
      return trust
    }
    if (says(/\(ALPN\)|NO_APPLICATION_PROTOCOL/)) {
      const protocol = address.replace(/targets$/, 'protocol')
      return `set ${protocol} to http1 or auto, or turn HTTP/2 on in ${server}`
    }
    if (says(/ECONNRESET|EPROTO|wrong version|socket hang up|disconnected|closed/i)) {
      return `check that ${server} listens there, with TLS exactly if ${address} says so`
    }
    return `correct ${address}, or fix what ${server} reports`
  }
}

/** An error about several addresses has its text only in its parts, and some have it in their cause. */
function innermost(error: unknown): { readonly reason: string; readonly code: string } {
  const inner =
    error instanceof AggregateError
      ? error.errors.at(-1)
      : error instanceof Error && error.cause instanceof Error
        ? error.cause
        : error
  const code = inner instanceof Error && 'code' in inner ? String(inner.code) : ''
  const text = inner instanceof Error ? inner.message : String(inner)
  return { reason: text === '' ? code : text, code }
}
