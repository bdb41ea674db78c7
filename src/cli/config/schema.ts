import { configJsonSchema } from '../../config/schema/json-schema.ts'
import type { Run } from '../command.ts'
import type { schemaSpec } from './specs.ts'

/** Prints the JSON Schema of a configuration file: the content of `config/schema.json`. */
export const configSchema: Run<typeof schemaSpec> = async (_, io) => {
  io.out(configJsonSchema())
  return 0
}
