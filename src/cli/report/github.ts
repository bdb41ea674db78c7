import { inRepository, type Workplace } from './location.ts'
import { bySeverity, countLevels, type Level, oneLine, type Report, type Result } from './report.ts'

/** GitHub shows ten annotations of each kind for a step. */
const maxShown = 10
const maxMessage = 1000

const kinds = { error: 'error', warning: 'warning', note: 'notice' } as const

/** Workflow commands of GitHub Actions, which become annotations: the summary, then the most severe. */
export function formatGithub(report: Report, place: Workplace): string {
  const { command, verdict, summary, rules } = report
  const results = bySeverity(report.results)
  const levels = countLevels(results)
  const left: Record<Level, number> = { error: maxShown, warning: maxShown, note: maxShown - 1 }
  const shown = results.filter(({ level }) => left[level]-- > 0)
  const more = results.length - shown.length
  const about = [
    levels === '' ? verdict : `${verdict} (${levels})`,
    ...summary,
    ...(more > 0 ? [`${more.toLocaleString('en-US')} more: --output json lists all`] : []),
  ]
  const title = `postern ${command}`
  return [
    workflowCommand('notice', { title }, about),
    ...shown.map((result) => {
      const named = { title: rules[result.rule]?.summary ?? title }
      return workflowCommand(kinds[result.level], { ...position(result, place), ...named }, [
        result.message,
      ])
    }),
  ].join('')
}

function position({ file, line, column }: Result, place: Workplace) {
  const path = file === undefined ? undefined : inRepository(file, place)
  if (path === undefined) return {}
  return { file: path, line: `${line ?? 1}`, ...(column !== undefined && { col: `${column}` }) }
}

function workflowCommand(
  kind: string,
  properties: Readonly<Record<string, string>>,
  lines: readonly string[],
): string {
  const pairs = Object.entries(properties).map(([key, value]) => `${key}=${escapeProperty(value)}`)
  const message = lines.map((line) => oneLine(line, maxMessage)).join('\n')
  return `::${kind} ${pairs.join(',')}::${escapeData(message)}\n`
}

/** The escapes that the runner undoes. Without them a text could end its command and start another. */
function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(oneLine(text, maxMessage)).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
