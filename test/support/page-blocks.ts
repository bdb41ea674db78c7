/** One command of a page, and what the page says that it prints. */
export interface PageCommand {
  readonly line: number
  readonly command: string
  readonly output: string
}

/**
 * A fenced block of a page that `npm run docs:check` looks at, by the words after the opening fence:
 * `console` has commands to run, `console eventually` some to repeat until they print what is shown,
 * because a gateway loads a change in its own time, `console running` one that keeps running,
 * `console not-run` commands for the reader alone, and `file=NAME` the text of a file.
 */
export type PageBlock =
  | {
      readonly kind: CommandKind
      readonly line: number
      readonly commands: readonly PageCommand[]
    }
  | { readonly kind: 'file'; readonly line: number; readonly name: string; readonly text: string }

const kinds = ['eventually', 'running', 'not-run'] as const
type CommandKind = 'commands' | (typeof kinds)[number]

export function blocksOf(markdown: string): readonly PageBlock[] {
  const fences = markdown.matchAll(/^( *)(`{3,})(\w+)([^\n]*)\n([\s\S]*?)^\1\2$/gm)
  return [...fences].flatMap((fence): readonly PageBlock[] => {
    const [, indent = '', , language, more = '', indented = ''] = fence
    const line = markdown.slice(0, fence.index).split('\n').length + 1
    const text = indented.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    const words = more.trim().split(/ +/)
    const name = words.find((word) => word.startsWith('file='))?.slice('file='.length)
    if (name !== undefined) return [{ kind: 'file', line, name, text }]
    if (language !== 'console') return []
    const kind = kinds.find((each) => words.includes(each)) ?? 'commands'
    return [{ kind, line, commands: commandsOf(text, line) }]
  })
}

/** `$ ` begins a command, a backslash at the end of its line continues it, the rest is output. */
function commandsOf(text: string, firstLine: number): readonly PageCommand[] {
  const commands: { line: number; command: string; output: string }[] = []
  let isContinued = false
  for (const [index, line] of text.replace(/\n$/, '').split('\n').entries()) {
    const last = commands.at(-1)
    if (isContinued && last !== undefined) last.command += `\n${line}`
    else if (line.startsWith('$ ')) {
      commands.push({ line: firstLine + index, command: line.slice(2), output: '' })
    } else if (last === undefined)
      throw new Error(`line ${firstLine + index}: no command before it`)
    else last.output += `${line}\n`
    isContinued = line.endsWith('\\') && (isContinued || line.startsWith('$ '))
  }
  return commands
}

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g

/** What differs from run to run, and what to compare in its place. */
const varying: readonly (readonly [RegExp, string])[] = [
  [uuid, 'UUID'],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC)?/g, 'TIME'],
  [/\b\d{4}-\d\d-\d\d-[0-9a-f]{6}\b/g, 'KID'],
  [/\b\d{4}-\d\d-\d\d\b/g, 'DATE'],
  // SHA-256 or a coordinate of a public key, in base64url.
  [/(?<![\w-])[\w-]{43}(?![\w-])/g, 'DIGEST'],
  [/(?<=^(?:\w+ )?)[A-Za-z0-9]{16}$/gm, 'PASSWORD'],
  [/\b[a-z][\w.-]*-\d+-[0-9a-f]{6}\b/g, 'REPLICA'],
  [/\b[\d.]+ m?s ago\b/g, 'AGO'],
  [/ {2,}|\t/g, ' '],
  // How long a replica has evaluated a shadow.
  [/(?<= (?:evaluating|for) )\d+ (?:s|min)\b/g, 'DURATION'],
  [/[ \r]+$/gm, ''],
]

function comparable(text: string): string {
  const compared = varying.reduce((so, [pattern, word]) => so.replaceAll(pattern, word), text)
  return compared.replace(/\n*$/, '\n')
}

/**
 * Whether this output is what the page shows. `…` stands for anything on its line, a line of `…` for
 * any lines. With `start`, more may follow.
 */
export function isShown(
  actual: string,
  shown: string,
  { start = false }: { readonly start?: boolean } = {},
): boolean {
  const lines = comparable(shown).replace(/\n$/, '').split('\n')
  const pattern = lines
    .map((line) => (line === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(escaped).join('.*')}\\n`))
    .join('')
  return new RegExp(`^${pattern}${start ? '' : '$'}`).test(comparable(actual))
}

/** Each UUID that the page shows, with the one that was printed in its place. */
export function shownIds(actual: string, shown: string): readonly (readonly [string, string])[] {
  const printed = actual.match(uuid) ?? []
  return (shown.match(uuid) ?? []).flatMap((id, index) => {
    const other = printed[index]
    return other === undefined ? [] : [[id, other] as const]
  })
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
