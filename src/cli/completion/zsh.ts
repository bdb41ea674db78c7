import type { CompletedArgument, CompletedOption, Node, Offer } from './nodes.ts'

/** The script for zsh: one function for each node, in terms of `_arguments`. */
export function zshScript(nodes: readonly Node[]): string {
  return `#compdef postern
# zsh completion of postern

${nodes.map(nodeFunction).join('\n')}
# In $fpath, this file is the body of _postern. Elsewhere, it registers what it defines.
if [[ \${funcstack[1]} == _postern ]]; then
  _postern "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _postern postern
fi
`
}

function nodeFunction({ words, next, options, arguments: positionals }: Node): string {
  const name = ['_postern', ...words.split(' ').filter((word) => word !== '')].join('-')
  const specs = options.map(optionSpec)
  if (next.length === 0) {
    return `${name}() {\n${argumentsCall('-s -S', [...specs, ...positionals.map(argumentSpec)])}}\n`
  }
  const described = next.map(({ word, summary }) => `    ${quoted(`${word}:${summary}`)}\n`)
  return `${name}() {
  local curcontext=$curcontext state state_descr line
  local -A opt_args
  local -a next=(
${described.join('')}  )
${argumentsCall('-C -S', [...specs, "'(-)1: :->word'", "'(-)*:: :->rest'"])}  case $state in
    word) _describe -t commands command next ;;
    rest) (( $+functions[${name}-$words[1]] )) && ${name}-$words[1] ;;
  esac
}
`
}

function argumentsCall(flags: string, specs: readonly string[]): string {
  return `  _arguments ${flags} :${specs.map((spec) => ` \\\n    ${spec}`).join('')}\n`
}

function optionSpec({ long, short, description, value }: CompletedOption): string {
  const text = `[${description.replace(/[\\[\]]/g, '\\$&')}]`
  const taken = value === undefined ? '' : `:${message(value.name)}:${action(value.offer)}`
  const [separate, attached] = value === undefined ? ['', ''] : ['=', '+']
  const forms =
    short === undefined ? [`${long}${separate}`] : [`${short}${attached}`, `${long}${separate}`]
  const [first = '', second] = forms
  if (second === undefined) return quoted(`${first}${text}${taken}`)
  // The two spellings exclude each other.
  return `${quoted(`(${short} ${long})`)}{${first},${second}}${quoted(`${text}${taken}`)}`
}

function argumentSpec({ name, offer, many }: CompletedArgument, at: number): string {
  return quoted(`${many ? '*' : at + 1}:${message(name)}:${action(offer)}`)
}

function message(text: string): string {
  return text.replaceAll(':', '\\:')
}

/** Code that offers the values; a lone space offers nothing. */
function action({ words, path }: Offer): string {
  const paths = path === undefined ? '' : path === 'file' ? '_files' : '_files -/'
  if (words.length === 0) return paths === '' ? ' ' : paths
  return paths === '' ? `(${words.join(' ')})` : `{compadd -- ${words.join(' ')}; ${paths}}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
