import { allCommands, programHelp } from '../../src/cli/commands/overview.ts'
import { commandSet } from '../../src/cli/commands/table.ts'
import { exitCodeMeanings, exitCodes } from '../../src/cli/exit-codes.ts'
import { commandHelp } from '../../src/cli/help.ts'

const note = 'This page is generated: `npm run generate`.\n'

/** `docs/commands.md`, and a page for each group of commands with the help of each. */
export async function commandPages() {
  const { commands, groups } = await commandSet()
  const program = {
    name: 'program',
    summary: 'run and look at a gateway, begin a project',
    commands,
  }
  const pages = [program, ...groups]
  const list = pages.map(({ name, summary, commands: members }) => {
    const titles = members.map((spec) => {
      const word = spec.name.split(' ').at(-1)
      return `[${word}](commands/${name}.md#${anchorOf(spec)})`
    })
    return `| ${name === 'program' ? '' : `\`${name}\``} | ${summary} | ${titles.join(', ')} |`
  })
  const overview = [
    introduction,
    `| Group | To | Commands |\n|---|---|---|\n${list.join('\n')}\n`,
    block(await programHelp()),
    `${exitCodeTables(await allCommands())}\n`,
  ].join('\n')
  return new Map([
    ['docs/commands.md', overview],
    ...pages.map((page) => [`docs/commands/${page.name}.md`, groupPage(page)]),
  ])
}

function groupPage({ name, summary, commands }) {
  const sections = commands.map((spec) => `## postern ${spec.name}\n\n${block(commandHelp(spec))}`)
  const title = name === 'program' ? 'Commands of one word' : `postern ${name}: ${summary}`
  return [`# ${title}\n\n[All commands](../commands.md) · ${note}`, ...sections].join('\n')
}

const anchorOf = ({ name }) => `postern-${name.replaceAll(' ', '-')}`

const introduction = `# Commands

Every command prints its own section of these pages with \`--help\`, \`-h\` or \`postern help COMMAND\`.
Results go to stdout, messages to stderr. With \`--output json\`, a command that fails prints a document
with \`ok: false\` and \`errors\`.

${note}`

function block(text) {
  return `\`\`\`text\n${text}\`\`\`\n`
}

const names = Object.keys(exitCodes)

/** What each exit code means, and what it means for each command that has it, as Markdown. */
function exitCodeTables(specs) {
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

function table([titles = [], ...rows]) {
  const lines = [titles, titles.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
