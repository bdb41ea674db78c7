import { loadConfig } from '../../config/load.ts'
import { redacted } from '../../config/secrets.ts'
import type { RunOf } from '../operation.ts'
import type { configPrint } from './descriptions.ts'

/** What a start would use: file, environment and defaults merged, with secrets masked. */
export const run: RunOf<typeof configPrint> = async ({ file }, { configFile, env, cwd }) => {
  return { document: redacted(loadConfig({ file: file ?? configFile, env, cwd })) }
}
