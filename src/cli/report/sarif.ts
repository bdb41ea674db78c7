import { createHash } from 'node:crypto'
import { version } from '../../kernel/version.ts'
import { json } from '../format.ts'
import { absoluteUriOf, inRepository, uriOf, type Workplace } from './location.ts'
import { bySeverity, oneLine, type Report, type ReportRule, type Result } from './report.ts'

/** GitHub stores 5,000 results of a run and rejects a file with more than 25,000. */
const maxResults = 5000
const maxMessage = 1000

/** SARIF 2.1.0, for code scanning. Paths are relative to the repository, for any machine to read. */
export function formatSarif(report: Report, place: Workplace): string {
  const { command, rules, results, isUnanswered = false } = report
  const ids = Object.keys(rules)
  // A result of code scanning needs a file; the rest is about the run.
  const shown = bySeverity(results).slice(0, maxResults)
  const [located, other] = [shown.filter(hasFile), shown.filter((each) => !hasFile(each))]
  const fingerprintOf = createFingerprints()
  const notifications = [...other.map(notification), ...leftOut(results.length - shown.length)]
  return json({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'Postern',
            version,
            semanticVersion: version,
            // No informationUri: it has to be absolute (section 3.19), and no page of ours has an address.
            rules: ids.map((id) => descriptor(id, rules[id] ?? { summary: id, help: id })),
          },
        },
        // Uploads of different commands do not replace each other.
        automationDetails: { id: `postern-${command.replaceAll(' ', '-')}/` },
        columnKind: 'utf16CodeUnits',
        originalUriBaseIds: {
          [sourceRoot]: { description: { text: 'The root of the repository.' } },
        },
        invocations: [
          {
            executionSuccessful: !isUnanswered,
            ...(notifications.length > 0 && { toolExecutionNotifications: notifications }),
          },
        ],
        results: located.map((result) => ({
          ruleId: result.rule,
          ruleIndex: ids.indexOf(result.rule),
          level: result.level,
          message: { text: plainText(result.message) },
          locations: [{ physicalLocation: physicalLocation(result, place) }],
          partialFingerprints: { primaryLocationLineHash: fingerprintOf(result) },
        })),
      },
    ],
  })
}

const sourceRoot = '%SRCROOT%'

function hasFile({ file }: Result): boolean {
  return file !== undefined
}

function descriptor(id: string, { summary, help }: ReportRule) {
  return {
    id,
    shortDescription: { text: plainText(summary) },
    fullDescription: { text: plainText(summary) },
    help: { text: plainText(help) },
  }
}

function notification({ rule, level, message }: Result) {
  return { level, message: { text: plainText(message) }, associatedRule: { id: rule } }
}

function leftOut(number: number) {
  if (number <= 0) return []
  const text = `${number} less severe results are left out: --output json lists all.`
  return [{ level: 'warning', message: { text } }]
}

function physicalLocation({ file = '', line, column }: Result, place: Workplace) {
  const path = inRepository(file, place)
  return {
    artifactLocation:
      path === undefined
        ? { uri: absoluteUriOf(file, place) }
        : { uri: uriOf(path), uriBaseId: sourceRoot },
    region: { startLine: line ?? 1, ...(column !== undefined && { startColumn: column }) },
  }
}

/**
 * SARIF section 3.11: braces are placeholders unless doubled, and `[text](target)` is a link, which a
 * role name must not become.
 */
function plainText(text: string): string {
  return oneLine(text, maxMessage).replaceAll(/[{}]/g, '$&$&').replaceAll('](', '] (')
}

/**
 * What stays the same while lines move: rule, file, and the line or the message without line numbers.
 * Equal ones are numbered, as GitHub does with equal lines.
 */
function createFingerprints(): (result: Result) => string {
  const seen = new Map<string, number>()
  return ({ rule, file = '', message, text = message.replaceAll(/:\d+/g, ':') }) => {
    const known = JSON.stringify([rule, file, text])
    const hash = createHash('sha256').update(known).digest('hex').slice(0, 16)
    const number = (seen.get(hash) ?? 0) + 1
    seen.set(hash, number)
    return `${hash}:${number}`
  }
}
