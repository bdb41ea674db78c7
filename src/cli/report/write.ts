import { formatGithub } from './github.ts'
import { formatJunit } from './junit.ts'
import type { Workplace } from './location.ts'
import { formatMarkdown } from './markdown.ts'
import type { Report } from './report.ts'
import { formatSarif } from './sarif.ts'

const writers = {
  junit: formatJunit,
  sarif: formatSarif,
  markdown: formatMarkdown,
  github: formatGithub,
} as const satisfies Record<string, (report: Report, place: Workplace) => string>

/** The formats that are written from a `Report`. */
export type ReportFormat = keyof typeof writers

/** Whether a value of `--output` is one of them. */
export function isReportFormat(output: unknown): output is ReportFormat {
  return typeof output === 'string' && Object.hasOwn(writers, output)
}

/** The report in this format. */
export function renderReport(report: Report, format: ReportFormat, place: Workplace): string {
  return writers[format](report, place)
}
