import { configJsonSchema } from '../../config/schema/json-schema.ts'
import type { Io } from '../io.ts'

const USAGE = 'usage: postern config schema\n'

/** Prints the JSON Schema of a configuration file: the content of `config/schema.json`. */
export async function configSchema(
  args: readonly string[],
  io: Pick<Io, 'out' | 'err' | 'env' | 'cwd'>,
): Promise<number> {
  if (args.length > 0) {
    io.err(USAGE)
    return 2
  }
  io.out(configJsonSchema())
  return 0
}
