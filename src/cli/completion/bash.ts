import { fill } from '../../kernel/fill.ts'
import type { CompletedOption, Node, Offer } from './nodes.ts'

/** The script for bash. It needs no other package. */
export function bashScript(nodes: readonly Node[]): string {
  const file = new URL('./files/postern.bash', import.meta.url)
  return fill(file, { arms: nodes.map(nodeArm).join('') })
}

function nodeArm({ words, next, options, arguments: positionals }: Node): string {
  const valued = options.filter(({ value }) => value !== undefined)
  const values = valued.flatMap((option) => {
    const set = assignments(option.value?.offer)
    return set === '' ? [] : [`    ${spellings(option).join(' | ')}) ${set} ;;\n`]
  })
  const places = positionals.flatMap(({ offer, many }, at) => {
    const set = assignments(offer)
    return set === '' ? [] : [`    ${many ? '[0-9]*' : at}) ${set} ;;\n`]
  })
  return [
    `  '${words}')\n`,
    next.length === 0 ? '' : `    next='${next.map(({ word }) => word).join(' ')}'\n`,
    options.length === 0 ? '' : `    options='${options.flatMap(spellings).join(' ')}'\n`,
    valued.length === 0 ? '' : `    valued='${valued.flatMap(spellings).join(' ')}'\n`,
    values.length === 0 ? '' : `    case \${2-} in\n${values.join('')}    esac\n`,
    places.length === 0 ? '' : `    case \${3-} in\n${places.join('')}    esac\n`,
    '    ;;\n',
  ].join('')
}

function spellings({ long, short }: CompletedOption): readonly string[] {
  return short === undefined ? [long] : [short, long]
}

function assignments(offer: Offer | undefined): string {
  const words =
    offer === undefined || offer.words.length === 0 ? [] : [`words='${offer.words.join(' ')}'`]
  const path = offer?.path === undefined ? [] : [`path=${offer.path}`]
  return [...words, ...path].join(' ')
}
