import type { CompletedOption, Node, Offer } from './nodes.ts'

/** The script for fish 3.1 and later: a line for each word, option and argument. */
export function fishScript(nodes: readonly Node[]): string {
  const withNext = nodes.filter(({ next }) => next.length > 0).map(({ words }) => quoted(words))
  return `# fish completion of postern

# The options of a command that take a value.
function __postern_valued
    switch $argv[1]
${nodes.map(valuedArm).join('')}    end
end

# Sets the words that name the command, and the number of arguments after them.
function __postern_read
    set -g __postern_command ''
    set -g __postern_count 0
    set -l valued (__postern_valued '')
    set -l skip 0
    set -l ended 0
    for token in $argv[2..-1]
        if test $skip = 1
            set skip 0
        else if test $ended = 0 -a "$token" = --
            set ended 1
        else if test $ended = 0; and string match -q -- '-*' $token
            contains -- $token $valued; and set skip 1
        else if contains -- "$__postern_command" ${withNext.join(' ')}
            set -g __postern_command (string trim -- "$__postern_command $token")
            set valued (__postern_valued $__postern_command)
        else
            set -g __postern_count (math $__postern_count + 1)
        end
    end
end

# Whether the cursor is after the command $argv[1] and, if given, after $argv[2] arguments (3, or 3+ for
# three or more). One completion asks this about every command, so it reads the line once.
function __postern_at
    set -l tokens (commandline -opc)
    if test "$tokens" != "$__postern_tokens"
        set -g __postern_tokens $tokens
        __postern_read $tokens
    end
    test "$__postern_command" = "$argv[1]"; or return 1
    switch "$argv[2]"
        case ''
            return 0
        case '*+'
            test $__postern_count -ge (string replace + '' -- $argv[2])
        case '*'
            test $__postern_count -eq $argv[2]
    end
end

complete -c postern -e
complete -c postern -f
${nodes.flatMap(nodeLines).join('\n')}
`
}

function valuedArm({ words, options }: Node): string {
  const valued = options.filter(({ value }) => value !== undefined)
  if (valued.length === 0) return ''
  const spellings = valued.flatMap(({ long, short }) =>
    short === undefined ? [long] : [short, long],
  )
  return `        case ${quoted(words)}\n            string split ' ' -- ${quoted(spellings.join(' '))}\n`
}

function nodeLines({ words, next, options, arguments: positionals }: Node): readonly string[] {
  const line = (place: string, rest: string) =>
    `complete -c postern -n ${quoted(`__postern_at ${quoted(words)}${place}`)} ${rest}`
  return [
    ...next.map(({ word, summary }) => line('', `-a ${word} -d ${quoted(summary)}`)),
    ...options.map((option) => line('', optionFlags(option))),
    ...positionals.flatMap(({ name, offer, many }, at) => {
      const place = ` ${at}${many ? '+' : ''}`
      return offerFlags(offer).map((flags) => line(place, `${flags} -d ${quoted(name)}`))
    }),
  ]
}

function optionFlags({ long, short, description, value }: CompletedOption): string {
  const spelling = `-l ${long.slice(2)}${short === undefined ? '' : ` -s ${short.slice(1)}`}`
  const taken = value === undefined ? [] : ['-x', ...offerFlags(value.offer)]
  // A file is not exclusive: -x would switch file names off.
  const flags = value?.offer.path === 'file' ? ['-r', '-F'] : taken
  return [spelling, ...flags, `-d ${quoted(description)}`].join(' ')
}

function offerFlags({ words, path }: Offer): readonly string[] {
  const directories = path === 'directory' ? ['(__fish_complete_directories)'] : []
  const offered = [...words, ...directories].join(' ')
  const listed = offered === '' ? [] : [`-a ${quoted(offered)}`]
  return path === 'file' ? ['-F', ...listed] : listed
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
