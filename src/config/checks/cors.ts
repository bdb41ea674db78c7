import type { Report } from '../reading/report.ts'
import type { Draft } from './draft.ts'
import { originComplaint } from './origin-form.ts'

/** Every origin is one that a browser can send, and `*` opens nothing that a cookie opens. */
export function checkCors({ cors }: Draft, report: Report): void {
  const origins = cors?.origins ?? []
  origins.forEach((origin, index) => {
    const at = `cors.origins[${index}]`
    if (origin === undefined || origin === '*' || report.isBroken(at)) return
    const complaint = originComplaint(origin)
    if (complaint !== undefined) report.problem(at, `${at} ${complaint}`)
  })

  if (origins.includes('*') && origins.length > 1) {
    report.problem('cors.origins', 'cors.origins has * beside others: * is all of them')
  }
  // Any page could act for whoever is logged in, and read the answers.
  if (origins.includes('*') && cors?.credentials === true) {
    report.problem('cors.credentials', 'cors.credentials needs origins by name, not *')
  }
  for (const key of ['headers', 'exposeHeaders'] as const) {
    cors?.[key]?.forEach((name, index) => {
      const at = `cors.${key}[${index}]`
      // To some browsers a wildcard, to some a name, and never Authorization.
      if (name === '*') report.problem(at, `${at} must be a name: list each header`)
    })
  }
}
