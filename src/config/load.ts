import { isUtf8 } from 'node:buffer'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Invalid, type Problem } from '../kernel/errors.ts'
import { crossCheck } from './checks/cross-checks.ts'
import { applySchema } from './reading/apply-schema.ts'
import { type Environment, overlayEnvironment } from './reading/environment.ts'
import { withPathsFrom } from './reading/file-paths.ts'
import { createReport } from './reading/report.ts'
import type { Place, Tree } from './reading/tree.ts'
import { parseYaml } from './reading/yaml-tree.ts'
import type { Config, Draft } from './schema/schema.ts'
import { rootSetting } from './schema/setting.ts'

/** The first one that exists. */
const DEFAULT_FILES = ['postern.yaml', 'config/postern.yaml'] as const

/**
 * Where a configuration comes from. Relative paths in the file start at its directory, and are returned
 * relative to `cwd`; those of the environment and of the defaults start at `cwd`.
 */
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
export function configFile({ file, env, cwd }: ConfigSource): string {
  const { POSTERN_CONFIG: named } = env
  const existing = () => DEFAULT_FILES.find((each) => existsSync(resolve(cwd, each)))
  return file ?? named ?? existing() ?? DEFAULT_FILES[0]
}

function isNamed({ file, env }: ConfigSource): boolean {
  return file !== undefined || env['POSTERN_CONFIG'] !== undefined
}

const createFix = 'run "postern init" to create one, or give the path of yours'

/** The frozen configuration of this source. Throws `Invalid` with every problem found. */
export function loadConfig(source: ConfigSource): Config {
  const { config, problems } = readConfig(source)
  if (config === undefined) throw new Invalid(problems)
  return config
}

/** Reads the configuration without throwing, for commands that print problems. No problem quotes a secret. */
export function readConfig(source: ConfigSource): ConfigReading {
  const name = configFile(source)

  const file = readText(resolve(source.cwd, name))
  if ('why' in file) {
    const message = `configuration file ${file.why}`
    // The user who named a file wants that one.
    const isMissing = file.why === REASONS['ENOENT'] && !isNamed(source)
    return { problems: [{ file: name, message, ...(isMissing && { fix: createFix }) }] }
  }
  const yaml = parseYaml(file.text, name, true)
  if (yaml.tree === undefined) return yaml

  const { value, report } = settingsIn(yaml.tree, source)
  const draft = value as Draft
  crossCheck(draft, report)

  const problems = report.problems()
  const written = { draft, placeOf: report.placeOf, hasProblem: report.hasProblem }
  if (problems.length > 0) return { problems, written }
  return { config: value as Config, problems: [], written }
}

/**
 * What the environment sets, with defaults, for a command that goes on although the file is not YAML;
 * `undefined` if there is no file to read.
 */
export function draftOfEnvironment(source: ConfigSource): Draft | undefined {
  const file = configFile(source)
  if ('why' in readText(resolve(source.cwd, file))) return undefined
  const empty: Tree = { kind: 'map', entries: new Map(), place: { file } }
  return settingsIn(empty, source).value as Draft
}

/** The value of a file, overridden by the environment, as far as both fit the schema. */
function settingsIn(file: Tree, source: ConfigSource) {
  const report = createReport({ file: configFile(source), line: 1, column: 1 })
  const readSecretFile = (path: string) => withoutNewline(readText(resolve(source.cwd, path)))
  const inFile = withPathsFrom(resolve(source.cwd, configFile(source)), file, source.cwd)
  const tree = overlayEnvironment(inFile, source.env, { readSecretFile, report })
  return { value: applySchema(rootSetting, tree, report), report }
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
