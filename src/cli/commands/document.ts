import type { CommandSpec } from '../command.ts'
import { exitCodeMeanings, exitCodes } from '../exit-codes.ts'
import { commandHelp } from '../help.ts'
import { allCommands, programHelp } from './overview.ts'

/** `docs/commands.md`: the help of every command. */
export async function commandsDocument(): Promise<string> {
  const specs = await allCommands()
  const sections = specs.map((spec) => `## postern ${spec.name}\n\n${block(commandHelp(spec))}`)
  return [introduction, block(await programHelp()), `${exitCodeTables(specs)}\n`, ...sections].join(
    '\n',
  )
}

const introduction = `# Commands

Every command prints its own section of this page with \`--help\`, \`-h\` or \`postern help COMMAND\`.
Results go to stdout, messages to stderr. With \`--output json\`, a command that fails prints a document
with \`ok: false\` and \`errors\`.

This page is generated: \`npm run generate\`.
`

function block(text: string): string {
  return `\`\`\`text\n${text}\`\`\`\n`
}

type Name = keyof typeof exitCodes
const names = Object.keys(exitCodes) as Name[]

/** What each exit code means, and what it means for each command that has it, as Markdown. */
function exitCodeTables(specs: readonly CommandSpec[]): string {
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
