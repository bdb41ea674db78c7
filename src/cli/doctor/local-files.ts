import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Written } from '../../config/load.ts'
import type { Config } from '../../config/schema/schema.ts'
import { formatProblem, Invalid } from '../../kernel/errors.ts'
import { checkAppendable } from '../../operations/config/file-facts.ts'
import { checkFiles } from '../../operations/config/files.ts'
import { firstPasswordsFile } from '../../stores/accounts/first-passwords.ts'
import { builtPages, readPages } from '../../stores/files/built-pages.ts'
import { readGeneratedSecret } from '../../stores/keys/shared-secret.ts'
import { certificateFinding } from './expiry.ts'
import { type Finding, ok, problem, warning } from './finding.ts'
import { checkSpace } from './machine.ts'
import type { Check } from './run-checks.ts'

/** The files of the configuration: those that a gateway opens at startup. */
export async function checkNamedFiles(written: Written, cwd: string): Promise<readonly Finding[]> {
  const checked = await checkFiles(written, cwd)
  return checked.flatMap(({ setting, problems, facts }) => {
    if (problems.length > 0) {
      return problems.map((each) => problem(setting, formatProblem(each), fixOf(setting)))
    }
    const warnings = (facts?.warnings ?? []).map(({ message, fix }) =>
      warning(setting, message, fix),
    )
    if (facts?.expires === undefined) return [ok(setting, facts?.shown ?? 'usable'), ...warnings]
    return [
      certificateFinding(setting, facts.shown, {
        expires: facts.expires,
        fix: 'renew it, and replace the file',
      }),
    ]
  })
}

function fixOf(setting: string): string {
  if (setting === 'policy.directory') {
    return 'fix the policy ("postern policy check" explains it), or correct policy.directory'
  }
  if (setting === 'jwt.keyDirectory') {
    return 'fix the key files ("postern keys list" shows them), or correct jwt.keyDirectory'
  }
  if (setting === 'application.dataDirectory') {
    return 'let the user of the gateway write there (chown), or set application.dataDirectory to another directory'
  }
  if (setting === 'logger.decisions.file') {
    return `create its directory and let the user of the gateway write there, or correct ${setting}`
  }
  return `fix the file or its owner and mode, or correct ${setting}`
}

/** Directories that a gateway writes to, the secret that it generated, and the pages of the console. */
export function storageChecks(config: Config, cwd: string): readonly Check[] {
  const { application, database, jwt, logger, policy } = config
  const directory = resolve(cwd, application.dataDirectory)
  const needsSecret = jwt.secret === undefined && jwt.keyDirectory === undefined
  const { snapshot } = policy
  const { enabled: recordsDecisions, file: decisions } = logger.decisions
  const written = [
    ...(database.url === undefined ? [['application.dataDirectory', directory] as const] : []),
    ...(recordsDecisions && decisions !== undefined
      ? [['logger.decisions.file', resolve(cwd, decisions)] as const]
      : []),
    ...(snapshot === undefined ? [] : [['policy.snapshot', resolve(cwd, snapshot)] as const]),
  ]
  return [
    ...written.map(([name, path]) => ({ name, run: async () => [await checkSpace(name, path)] })),
    ...(snapshot === undefined
      ? []
      : [{ name: 'policy.snapshot', run: () => checkSnapshot(resolve(cwd, snapshot)) }]),
    ...(database.url === undefined
      ? [{ name: 'first passwords', run: async () => checkFirstPasswords(directory) }]
      : []),
    ...(needsSecret ? [{ name: 'jwt.secret', run: () => checkSecret(directory) }] : []),
    ...(config.console.enabled ? [{ name: 'console', run: checkPages }] : []),
  ]
}

/** A gateway runs without its snapshot, until it has to start while Redis is unreachable. */
async function checkSnapshot(file: string): Promise<readonly Finding[]> {
  const name = 'policy.snapshot'
  return checkAppendable(file).then(
    ({ shown }) => [ok(name, shown)],
    (error: unknown) => [
      warning(
        name,
        messageOf(error),
        'let the user of the gateway write there, or set another file',
      ),
    ],
  )
}

/** Everyone who can read that file can log in as admin. */
function checkFirstPasswords(directory: string): readonly Finding[] {
  const file = firstPasswordsFile(directory)
  if (!existsSync(file)) return []
  const fix = `log in, change these passwords, then delete the file: rm '${file}'`
  return [warning('first passwords', `${file} still exists`, fix)]
}

async function checkSecret(directory: string): Promise<readonly Finding[]> {
  const name = 'jwt.secret'
  try {
    const { file, secret } = await readGeneratedSecret(directory)
    const message =
      secret === undefined ? 'the first start generates one' : 'generated at an earlier start'
    return [ok(name, `${message}, in ${file}`)]
  } catch (error) {
    const fix = 'fix the owner of the file, or delete it: that ends every session'
    return [problem(name, messageOf(error), fix)]
  }
}

async function checkPages(): Promise<readonly Finding[]> {
  try {
    return [ok('console', `${readPages(builtPages).length} files of its pages`)]
  } catch (error) {
    return [
      problem('console', messageOf(error), 'build the pages, or set console.enabled to false'),
    ]
  }
}

/** The message of an `Invalid`; anything else is a bug. */
function messageOf(error: unknown): string {
  if (error instanceof Invalid) return error.message
  throw error
}
