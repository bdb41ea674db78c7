import type { CommandSpec, OptionSpec } from './command.ts'

const width = 80

/** The help of one command. */
export function commandHelp(spec: CommandSpec): string {
  const { arguments: positionals, options, exitCodes, examples, details } = spec
  return [
    `${usageLines(spec)}\n`,
    paragraph(sentence(spec.summary)),
    ...(details?.map(paragraph) ?? []),
    section(
      'Arguments',
      positionals.map(({ name, description }) => [name, description] as const),
    ),
    section('Options', [
      ...Object.entries(options).map(([name, option]) => {
        return [optionForm(name, option), optionText(option)] as const
      }),
      ['-h, --help', 'show this help'],
    ]),
    section('Exit codes', Object.entries({ ...exitCodes, ...badUsage }).toSorted(byNumber)),
    `Examples:\n${examples.map((line) => `  ${line}\n`).join('')}`,
  ]
    .filter((part) => part !== '')
    .join('\n')
}

const badUsage = { 2: 'bad usage' }

function byNumber([left]: readonly [string, string], [right]: readonly [string, string]): number {
  return Number(left) - Number(right)
}

/** `Usage: postern …`, one line for each way to call the command. */
export function usageLines(spec: CommandSpec): string {
  return usages(spec)
    .map((usage, at) => `${at === 0 ? 'Usage: ' : '       '}${usage}`)
    .join('\n')
}

/** The ways to call the command: `postern policy test [DIR] [OPTIONS]`. */
export function usages(spec: CommandSpec): readonly string[] {
  const { name, usage = [derivedUsage(spec)] } = spec
  return usage.map((rest) => `postern ${name} ${rest}`.trimEnd())
}

function derivedUsage({ arguments: positionals, options }: CommandSpec): string {
  const entries = Object.entries(options)
  const required = entries.flatMap(([name, { value, short, required: isRequired }]) => {
    if (isRequired === undefined) return []
    return [`${short === undefined ? `--${name}` : `-${short}`} ${value}`]
  })
  const words = positionals.map(({ name, optional, many }) => {
    return `${optional ? `[${name}]` : name}${many ? '…' : ''}`
  })
  return [...words, ...required, ...(entries.length === 0 ? [] : ['[OPTIONS]'])].join(' ')
}

/** The help of the program or of one group: what it has, and where to read on. */
export function listHelp(list: {
  readonly usage: string
  readonly summary: string
  readonly commands: readonly (readonly [name: string, summary: string])[]
  readonly more: string
}): string {
  return [
    `Usage: ${list.usage}\n`,
    paragraph(sentence(list.summary)),
    section('Commands', list.commands),
    list.more,
  ].join('\n')
}

function optionForm(name: string, { short, value }: OptionSpec): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`
  return short === undefined ? `    ${long}` : `-${short}, ${long}`
}

/** The description of an option, with its default. */
export function optionText({ description, required, default: standard }: OptionSpec): string {
  if (required !== undefined) return `${description} (required)`
  return standard === undefined ? description : `${description} (default: ${standard})`
}

/** A title and rows of two columns, the second one wrapped. */
function section(title: string, rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return ''
  const first = Math.max(...rows.map(([left]) => left.length)) + 4
  const lines = rows.map(([left, right]) => {
    const [head, ...more] = wrapped(right, width - first)
    const tail = more.map((line) => `${' '.repeat(first)}${line}\n`)
    return `${`  ${left}`.padEnd(first)}${head}\n${tail.join('')}`
  })
  return `${title}:\n${lines.join('')}`
}

/** Lines that begin with a space are an example of a file. */
function paragraph(text: string): string {
  if (text.startsWith(' ')) return `${text}\n`
  return `${wrapped(text, width).join('\n')}\n`
}

function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** A summary as a sentence. */
export function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
}
