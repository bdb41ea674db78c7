import type { TSchema, ValueOf } from '../../config/schema/type.ts'
import type { Answer, Description, Fields, InputOf } from '../../operations/operation.ts'
import { jsonPieces } from '../format.ts'
import type { View } from '../view.ts'
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
type ReportFormat = keyof typeof writers

/** Whether a value of `--output` is one of them. */
export function isReportFormat(output: unknown): output is ReportFormat {
  return typeof output === 'string' && Object.hasOwn(writers, output)
}

/** The report in this format. */
export function renderReport(report: Report, format: ReportFormat, place: Workplace): string {
  return writers[format](report, place)
}

/** What the formats of a command are made of whose result a CI system shows. */
interface Reporting<Input extends Fields, Document extends TSchema, Shown> {
  readonly text: Part<Input, Document, Shown, string>
  readonly report: Part<Input, Document, Shown, Report>
  /** For people who read the log of a job, where a document may go to a file. */
  readonly err?: Remarks<Input, Document, Shown>
  /** Remarks that come before the result. */
  readonly before?: Remarks<Input, Document, Shown>
}

type Remarks<Input extends Fields, Document extends TSchema, Shown> = (
  answer: Answer<ValueOf<Document>, Shown>,
  input: InputOf<Input>,
  output: ReportFormat | 'text' | 'json',
) => string

type Part<Input extends Fields, Document extends TSchema, Shown, Result> = (
  answer: Answer<ValueOf<Document>, Shown>,
  input: InputOf<Input>,
) => Result

/** The parts for a described operation. */
export type ReportingOf<Described, Shown = unknown> =
  Described extends Description<infer Input, infer Document>
    ? Reporting<Input, Document, Shown>
    : never

/** Text, JSON and the reports. */
export function reportView<Input extends Fields, Document extends TSchema, Shown>({
  text,
  report,
  err = () => '',
  before = () => '',
}: Reporting<Input, Document, Shown>): View<Input, Document, Shown> {
  type Format = View<Input, Document, Shown>['text']
  const written = (
    output: ReportFormat | 'text' | 'json',
    write: (...given: Parameters<Format>) => string | Iterable<string>,
  ): Format => {
    return (answer, input, place) => ({
      out: write(answer, input, place),
      before: before(answer, input, output),
      err: err(answer, input, output),
    })
  }
  const reports = Object.keys(writers).filter(isReportFormat)
  return {
    text: written('text', text),
    json: written('json', ({ document }) => jsonPieces(document)),
    ...Object.fromEntries(
      reports.map((output) => [
        output,
        written(output, (answer, input, place) =>
          renderReport(report(answer, input), output, place),
        ),
      ]),
    ),
  }
}
