import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Assert } from 'typebox/value'
import { Invalid, type Problem } from '../errors.ts'
import { crossCheck } from './checks/cross-checks.ts'
import { applySchema } from './reading/apply-schema.ts'
import { type Environment, overlayEnvironment } from './reading/environment.ts'
import { createReport } from './reading/report.ts'
import type { Place } from './reading/tree.ts'
import { parseYaml } from './reading/yaml-tree.ts'
import { type Config, configSchema, type Draft } from './schema/schema.ts'
import { rootSetting } from './schema/setting.ts'

const DEFAULT_FILE = 'config/postern.yaml'

/** Where a configuration comes from. Relative paths are resolved against `cwd`. */
export interface ConfigSource {
  readonly file?: string | undefined
  readonly env: Environment
  readonly cwd: string
}

/** A valid configuration, or every problem that makes it invalid. */
export type ConfigReading =
  | { readonly config: Config; readonly problems: readonly []; readonly written: Written }
  | {
      readonly config?: never
      readonly problems: readonly Problem[]
      /** Absent when the file is not YAML. */
      readonly written?: Written
    }

/** The settings that fit the schema, even when others do not. */
export interface Written {
  readonly draft: Draft
  /** Where a setting was written, such as `tls.certFile`. */
  readonly placeOf: (setting: string) => Place
  /** Whether a setting, or its section, has a problem already. */
  readonly hasProblem: (setting: string) => boolean
}

/** The path of the file: the given one, else `POSTERN_CONFIG`, else the default. */
export function configFile({ file, env }: ConfigSource): string {
  const { POSTERN_CONFIG: named } = env
  return file ?? named ?? DEFAULT_FILE
}

/** The frozen configuration of this source. Throws `Invalid` with every problem found. */
export function loadConfig(source: ConfigSource): Config {
  const { config, problems } = readConfig(source)
  if (config === undefined) throw new Invalid(problems)
  return config
}

/** The same without throwing, for commands that print problems. No problem quotes a secret. */
export function readConfig(source: ConfigSource): ConfigReading {
  const name = configFile(source)

  const file = readText(resolve(source.cwd, name))
  if ('why' in file)
    return { problems: [{ file: name, message: `configuration file ${file.why}` }] }
  const yaml = parseYaml(file.text, name, true)
  if (yaml.tree === undefined) return yaml

  const report = createReport({ file: name, line: 1, column: 1 })
  const readSecretFile = (path: string) => withoutNewline(readText(resolve(source.cwd, path)))
  const tree = overlayEnvironment(yaml.tree, source.env, { readSecretFile, report })
  const value = applySchema(rootSetting, tree, report)
  const draft = value as Draft
  crossCheck(draft, report)

  const problems = report.problems()
  const written = { draft, placeOf: report.placeOf, hasProblem: report.hasProblem }
  if (problems.length > 0) return { problems, written }
  Assert(configSchema, value)
  return { config: value, problems: [], written }
}

type Reading = { readonly text: string } | { readonly why: string }

function readText(path: string): Reading {
  try {
    const bytes = readFileSync(path)
    return isUtf8(bytes)
      ? { text: bytes.toString() }
      : { why: 'is not UTF-8 text; save it as UTF-8' }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    return { why: REASONS[code] ?? `cannot be read (${code})` }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be read (permission denied); check its owner and mode',
  EISDIR: 'is a directory; give the path of a file',
}

/** Editors end a file with a newline, which is not part of the secret. */
function withoutNewline(reading: Reading): Reading {
  return 'text' in reading ? { text: reading.text.replace(/\r?\n$/, '') } : reading
}
