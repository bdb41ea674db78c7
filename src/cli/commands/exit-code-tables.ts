import type { CommandSpec } from '../command.ts'
import { exitCodeMeanings, exitCodes } from '../exit-codes.ts'

type Name = keyof typeof exitCodes
const names = Object.keys(exitCodes) as Name[]

/** What each exit code means, and what it means for each command that has it, as Markdown. */
export function exitCodeTables(specs: readonly CommandSpec[]): string {
  const meanings = names.map((name) => [String(exitCodes[name]), exitCodeMeanings[name]])
  const specific = names.filter((name) => name !== 'usage' && name !== 'bug')
  const rows = specs.map((spec) => [
    `\`${spec.name}\``,
    ...specific.map((name) => spec.exitCodes[exitCodes[name]] ?? ''),
  ])
  const titles = specific.map((name) => String(exitCodes[name]))
  return [
    '## Exit codes',
    'Scripts can rely on these codes. Every command has 0, 2 and 70.',
    table([['code', 'meaning'], ...meanings]),
    table([['command', ...titles], ...rows]),
  ].join('\n\n')
}

function table([titles = [], ...rows]: readonly (readonly string[])[]): string {
  const lines = [titles, titles.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
