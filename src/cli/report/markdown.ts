import {
  bySeverity,
  countLevels,
  oneLine,
  placeOf,
  type Report,
  type ReportRule,
  type Result,
} from './report.ts'

/** GitHub accepts 65,536 characters in a comment; the rest is for what a pipeline adds. */
const maxLength = 60_000
const maxLine = 400
const maxSummary = 20
/** Longer lists start folded. */
const maxOpen = 10

/**
 * A comment for a pull request: the summary, then the results by rule. All text from files is in code,
 * where neither HTML nor links, mentions or tables exist; a line cannot contain a line break.
 */
export function formatMarkdown(report: Report): string {
  const { command, verdict, summary, rules } = report
  const results = bySeverity(report.results)
  const levels = countLevels(results)
  const head = [
    // Lets a pipeline find its own comment and replace it.
    `<!-- postern ${command} -->`,
    `### Postern ${command}: ${verdict}`,
    '',
    ...(levels === '' ? [] : [`${levels}.`, '']),
    ...summary.slice(0, maxSummary).flatMap((line) => [inlineCode(line), '']),
  ].join('\n')

  const groups = [...Map.groupBy(results, ({ rule }) => rule)]
  const sections = new Map<string, string>()
  let length = head.length
  // Short lists first, each with an equal share of what is left: a long list does not hide the others.
  for (const [id, some] of groups.toSorted(([, a], [, b]) => a.length - b.length)) {
    const share = (maxLength - length) / (groups.length - sections.size)
    const section = formatGroup(some, { id, rule: rules[id] ?? { summary: id, help: '' }, share })
    sections.set(id, section)
    length += section.length
  }
  return [head, ...groups.map(([id]) => sections.get(id))].join('')
}

function formatGroup(
  results: readonly Result[],
  { id, rule, share }: { readonly id: string; readonly rule: ReportRule; readonly share: number },
): string {
  const { summary, help } = rule
  const title = `${summary} (${id}, ${countLevels(results) || results.length.toLocaleString('en-US')})`
  const lines: string[] = []
  // The fences can be as long as a line, around a line of backticks.
  let length = title.length + help.length + 3 * maxLine
  for (const result of results) {
    const line = formatLine(result)
    length += line.length + 1
    if (length > share) break
    lines.push(line)
  }
  const more = results.length - lines.length
  const language = results.every(({ sign }) => sign !== undefined) ? 'diff' : 'text'
  const body = [
    ...(help === '' ? [] : [help, '']),
    ...fence(lines, language),
    ...(more > 0
      ? ['', `… and ${more.toLocaleString('en-US')} more: --output json lists all.`]
      : []),
  ].join('\n')
  return lines.length > maxOpen
    ? `\n<details><summary>${title}</summary>\n\n${body}\n\n</details>\n`
    : `\n**${title}**\n\n${body}\n`
}

function formatLine(result: Result): string {
  const { sign, message } = result
  if (sign !== undefined) return oneLine(`${sign} ${message}`, maxLine)
  const place = placeOf(result)
  return oneLine(place ? `${place}: ${message}` : message, maxLine)
}

/** A code block that its content cannot end: the fence is longer than any run of backticks in it. */
function fence(lines: readonly string[], language: 'diff' | 'text'): readonly string[] {
  const ticks = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1))
  return [`${ticks}${language}`, ...lines, ticks]
}

/** A code span, by the same rule. A space keeps a backtick at its ends apart; renderers drop it. */
function inlineCode(text: string): string {
  const shown = oneLine(text, maxLine)
  const ticks = '`'.repeat(longestRun(shown) + 1)
  const space = /^[` ]|[` ]$/.test(shown) ? ' ' : ''
  return ticks + space + shown + space + ticks
}

function longestRun(text: string): number {
  return Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
}
