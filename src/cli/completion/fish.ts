import { fill } from '../../kernel/fill.ts'
import type { CompletedOption, Node, Offer } from './nodes.ts'

/** The script for fish 3.1 and later: a line for each word, option and argument. */
export function fishScript(nodes: readonly Node[]): string {
  const withNext = nodes.filter(({ next }) => next.length > 0).map(({ words }) => quoted(words))
  return fill(new URL('./files/postern.fish', import.meta.url), {
    valued: nodes.map(valuedArm).join(''),
    withNext: withNext.join(' '),
    lines: nodes.flatMap(nodeLines).join('\n'),
  })
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
