import type { CommandSet, CommandSpec, OptionSpec } from '../../src/cli/command.ts'
import { exitCodeMeanings, exitCodes } from '../../src/cli/exit-codes.ts'
import { optionText, sentence, usages } from '../../src/cli/help.ts'
import { version } from '../../src/kernel/version.ts'
import { bold, literal, text } from './roff.ts'

/** `postern.1`, for man: every command, from the specifications that also make `--help`. */
export function manPage({ commands, groups, common }: CommandSet): string {
  const specs = [...commands, ...groups.flatMap((group) => group.commands)]
  return [
    '.\\" Generated: npm run generate',
    `.TH POSTERN 1 "" "Postern ${version}" "Postern manual"`,
    // Without hyphenation and stretched lines: most words are names to type.
    '.nh',
    '.ad l',
    '.SH NAME',
    text('postern - API gateway that authenticates and authorizes each call before forwarding it'),
    '.SH SYNOPSIS',
    bold('postern COMMAND [ARGUMENTS] [OPTIONS]'),
    '.SH DESCRIPTION',
    text('Postern runs as one program with many commands.'),
    bold('postern init'),
    text('creates a configuration,'),
    bold('postern serve'),
    text('runs the gateway, and'),
    bold('postern doctor'),
    text('says what is wrong with it.'),
    '.PP',
    text(
      'Results go to stdout, messages to stderr. With --output json, a command that fails prints a',
    ),
    text('document with ok: false and errors.'),
    '.SH COMMANDS',
    ...specs.flatMap(commandSection),
    '.SH OPTIONS',
    ...options({ help: { short: 'h', description: 'show the help of a command' } }),
    ...options({
      version: { short: 'V', description: 'show the version, commit, Node version and platform' },
    }),
    '.PP',
    text('With these options, the console of a gateway runs the command:'),
    ...options(common),
    '.SH EXIT STATUS',
    ...codes.flatMap((name) => tagged(String(exitCodes[name]), exitCodeMeanings[name])),
    '.SH ENVIRONMENT',
    ...environment.flatMap(([name, meaning]) => tagged(name, meaning)),
    '.SH FILES',
    ...files.flatMap(([name, meaning]) => tagged(name, meaning)),
    '.SH SEE ALSO',
    text(
      'The directory docs of the package has the documentation; docs/README.md lists the pages.',
    ),
    '',
  ].join('\n')
}

const codes = Object.keys(exitCodes) as readonly (keyof typeof exitCodes)[]

const environment = [
  ['POSTERN_CONFIG', 'configuration file of commands without --config'],
  ['POSTERN_GATEWAY', 'console that runs commands without --gateway'],
  [
    'POSTERN_GATEWAY_TOKEN, POSTERN_GATEWAY_TOKEN_FILE',
    'token of a service account for that console, or a file that holds it',
  ],
  [
    'POSTERN_SECTION__NAME',
    'value of a setting, instead of the one in the file: POSTERN_REDIS__URL is redis.url',
  ],
  ['POSTERN_SECTION__NAME_FILE', 'file that holds the value of a setting'],
] as const

const files = [
  ['postern.yaml, config/postern.yaml', 'configuration; the first one that exists'],
  [
    '$XDG_STATE_HOME/postern, ~/.local/state/postern',
    'sessions of "postern gateway login", one file for each gateway',
  ],
] as const

function commandSection(spec: CommandSpec): readonly string[] {
  const { name, summary, details, arguments: positionals, exitCodes: own, examples } = spec
  return [
    `.SS ${literal(`postern ${name}`)}`,
    ...usages(spec).flatMap((usage, at) => [...(at === 0 ? [] : ['.br']), bold(usage)]),
    '.PP',
    text(sentence(summary)),
    ...(details?.flatMap(paragraph) ?? []),
    ...positionals.flatMap(({ name: placeholder, description }) =>
      tagged(placeholder, description),
    ),
    ...options(spec.options),
    '.PP',
    text('Exit status:'),
    ...Object.entries(own).flatMap(([code, meaning]) => tagged(code, meaning)),
    '.PP',
    text('Examples:'),
    ...verbatim(examples),
  ]
}

function options(specs: Readonly<Record<string, OptionSpec>>): readonly string[] {
  return Object.entries(specs).flatMap(([name, option]) => {
    const { short, value } = option
    const long = value === undefined ? `--${name}` : `--${name} ${value}`
    return tagged(short === undefined ? long : `-${short}, ${long}`, optionText(option))
  })
}

function tagged(tag: string, meaning: string): readonly string[] {
  return ['.TP', bold(tag), text(meaning)]
}

/** Lines that begin with a space stay as they are. */
function paragraph(part: string): readonly string[] {
  const lines = part.split('\n')
  return part.startsWith(' ') ? verbatim(lines.map((line) => line.slice(2))) : ['.PP', text(part)]
}

function verbatim(lines: readonly string[]): readonly string[] {
  return ['.PP', '.RS 4', '.nf', ...lines.map(literal), '.fi', '.RE']
}
