import { tracesUrl } from '../../tracing/otlp/open-otlp.ts'
import { postSpans } from '../../tracing/otlp/post-spans.ts'
import type { Report } from './run-checks.ts'

const name = 'tracing.otlp'

/** Sends an export without spans. A gateway serves without its collector, so nothing here is a problem. */
export async function checkCollector(report: Report, otlp: string): Promise<void> {
  const url = tracesUrl(otlp)
  const posted = await postSpans(url, '{"resourceSpans":[]}', new AbortController().signal)
  if (posted.kind === 'accepted') report.ok(`${shown(url)} accepts spans`)
  else report.warning(`${shown(url)} accepts no spans: ${posted.reason}`, fixOf(posted.reason))
}

/** Without what could be a password. */
function shown({ origin, pathname }: URL): string {
  return `${origin}${pathname}`
}

function fixOf(reason: string): string {
  if (reason === 'status 404') return `correct the path in ${name}: without one, /v1/traces is used`
  if (/^status 40[13]$/.test(reason)) {
    return 'let the collector accept spans without a login; the gateway sends none'
  }
  if (reason === 'status 415') return 'let the collector accept OTLP over HTTP as JSON'
  if (/^status /.test(reason)) return `look at the log of the collector, or correct ${name}`
  return `start the collector there, or correct ${name}; its port for OTLP over HTTP is usually 4318`
}
