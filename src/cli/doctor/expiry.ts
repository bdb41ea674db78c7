import { type Finding, ok, problem, warning } from './finding.ts'

/** As the alert PosternCertificateExpires. */
const soonMs = 7 * 86_400_000

/** Whether a certificate is still valid; `subject` ends with what it is. */
export function certificateFinding(
  check: string,
  subject: string,
  { expires, fix }: { readonly expires: Date; readonly fix: string },
): Finding {
  const leftMs = expires.getTime() - Date.now()
  const date = expires.toISOString().slice(0, 10)
  if (leftMs < 0) return problem(check, `${subject} expired on ${date}`, fix)
  if (leftMs < soonMs) return warning(check, `${subject} expires on ${date}`, fix)
  return ok(check, `${subject} valid until ${date}`)
}
