import type { Report } from './run-checks.ts'

/** As the alert PosternCertificateExpires. */
const soonMs = 7 * 86_400_000

/** Reports whether a certificate is still valid; `subject` ends with what it is. */
export function reportCertificate(report: Report, subject: string, expires: Date, fix: string) {
  const leftMs = expires.getTime() - Date.now()
  const date = expires.toISOString().slice(0, 10)
  if (leftMs < 0) report.problem(`${subject} expired on ${date}`, fix)
  else if (leftMs < soonMs) report.warning(`${subject} expires on ${date}`, fix)
  else report.ok(`${subject} valid until ${date}`)
}
