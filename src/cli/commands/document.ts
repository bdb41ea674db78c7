import { commandHelp } from '../help.ts'
import { exitCodeTables } from './exit-code-tables.ts'
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
