import { didYouMean } from '../../kernel/suggest.ts'
import { type Finding, findingCodes } from '../review/finding.ts'
import { quote } from '../rule/rule.ts'
import type { PolicyFile } from '../set/policy-set.ts'

/** `# postern: ignore CODE` above a line: its author has seen this warning and means the line. */
const ignoreComment = /^\s*#\s*postern:\s*ignore\b(.*)$/

/** The findings that no comment on the line above ignores by their code, and comments that ignore nothing. */
export function withoutIgnored(
  findings: readonly Finding[],
  files: readonly PolicyFile[],
): readonly Finding[] {
  const commented = files.filter(({ text }) => /#\s*postern:\s*ignore/.test(text))
  if (commented.length === 0) return findings
  const lines = new Map(commented.map(({ name, text }) => [name, text.split('\n')]))
  const kept = findings.filter(({ file, line = 0, code }) => {
    return !codesIn(lines.get(file)?.[line - 2]).includes(code)
  })
  return [...kept, ...[...lines].flatMap(([file, each]) => unknownCodes(file, each))]
}

function codesIn(line = ''): readonly string[] {
  const [, codes = ''] = ignoreComment.exec(line.trim()) ?? []
  return codes.split(/[\s,]+/).filter((code) => code !== '')
}

function unknownCodes(file: string, lines: readonly string[]): readonly Finding[] {
  const known: readonly string[] = findingCodes
  return lines.flatMap((line, index) =>
    codesIn(line)
      .filter((code) => !known.includes(code))
      .map((code) => {
        const message = `ignored: ${quote(code)} is not a code of a warning${didYouMean(code, known)}`
        return { file, line: index + 1, column: 1, code: 'not-read', message } as const
      }),
  )
}
