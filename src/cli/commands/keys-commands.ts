import type { Command } from '../io.ts'
import { later } from '../lazy-command.ts'

/** One line for each command, as the usage text has them. */
export const keysUsage = `  postern keys generate --out DIR        make a key that signs tokens
  postern keys list [DIR]                which keys are there, and which one signs
  postern keys use KID [DIR]             let another key sign
`

/** Every keys command, by its two words; `keys` alone lists them. */
export const keysCommands: Readonly<Record<string, Command>> = {
  'keys generate': later(async () => (await import('../keys/generate.ts')).keysGenerate),
  'keys list': later(async () => (await import('../keys/list.ts')).keysList),
  'keys use': later(async () => (await import('../keys/use.ts')).keysUse),
  keys: async ([first], io) => {
    const text = `${keysUsage}\nEach one has examples: postern keys generate --help\n`
    if (first === '--help' || first === '-h') {
      io.out(text)
      return 0
    }
    io.err(first === undefined ? text : `postern: no such command: keys ${first}\n\n${text}`)
    return 2
  },
}
