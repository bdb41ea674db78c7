import { quote } from '../../kernel/quote.ts'
import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'

/** No pattern says which ports and addresses exist. */
export function checkTracing({ tracing }: Draft, report: Report): void {
  const otlp = tracing?.otlp
  const at = 'tracing.otlp'
  if (otlp === undefined || report.hasProblem(at) || URL.canParse(otlp)) return
  report.problem(at, `: ${quote(otlp)} is not valid; use a URL such as http://collector:4318`)
}
