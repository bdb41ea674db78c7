import type { Call, CommandSet } from '../command.ts'
import type { Io } from '../io.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { completionNodes } from './nodes.ts'
import type { completionSpec } from './specs.ts'
import { zshScript } from './zsh.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** Prints the script that completes these commands. */
export async function completion(
  { arguments: [shell] }: Call<typeof completionSpec>,
  io: Io,
  commands: CommandSet,
): Promise<number> {
  io.out(scripts[shell](completionNodes(commands)))
  return 0
}
