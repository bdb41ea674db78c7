import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Written } from '../../config/load.ts'
import type { Config } from '../../config/schema/schema.ts'
import { builtPages, readPages } from '../../kernel/built-pages.ts'
import { formatProblem, Invalid } from '../../kernel/errors.ts'
import { firstPasswordsFile } from '../../stores/accounts/first-passwords.ts'
import { readGeneratedSecret } from '../../stores/keys/shared-secret.ts'
import { checkAppendable } from '../config/file-facts.ts'
import { checkFiles } from '../config/files.ts'
import { reportCertificate } from './expiry.ts'
import { checkSpace } from './machine.ts'
import type { Check, Report } from './run-checks.ts'

/** The files of the configuration: those that a gateway opens at startup. */
export async function checkNamedFiles(
  report: Report,
  written: Written,
  cwd: string,
): Promise<void> {
  for (const { setting, problems, facts } of await checkFiles(written, cwd)) {
    const { ok, warning, problem } = report.about(setting)
    for (const each of problems) problem(formatProblem(each), fixOf(setting))
    if (problems.length > 0) continue
    if (facts?.expires !== undefined) {
      const fix = 'renew it, and replace the file'
      reportCertificate(report.about(setting), facts.shown, facts.expires, fix)
      continue
    }
    ok(facts?.shown ?? 'usable')
    for (const { message, fix } of facts?.warnings ?? []) warning(message, fix)
  }
}

/** What to do where the message of the problem does not say enough. */
const fixes: Readonly<Record<string, string>> = {
  'policy.directory':
    'fix the policy ("postern policy check" explains it), or correct policy.directory',
  'jwt.keyDirectory':
    'fix the key files ("postern keys list" shows them; docs/keys.md#the-key-directory), or correct jwt.keyDirectory',
  'application.dataDirectory':
    'let the user of the gateway write there (chown), or set application.dataDirectory to another directory',
  'logger.decisions.file':
    'create its directory and let the user of the gateway write there, or correct logger.decisions.file',
}

function fixOf(setting: string): string {
  return fixes[setting] ?? `fix the file or its owner and mode, or correct ${setting}`
}

/** Directories that a gateway writes to, the secret that it generated, and the pages of the console. */
export function storageChecks(config: Config, cwd: string): readonly Check[] {
  const { application, console, database, jwt, logger, policy } = config
  const directory = resolve(cwd, application.dataDirectory)
  const isEmbedded = database.url === undefined
  const { enabled, file } = logger.decisions
  const written = [
    ['application.dataDirectory', isEmbedded ? directory : undefined],
    ['logger.decisions.file', enabled ? file : undefined],
    ['policy.snapshot', policy.snapshot],
  ] as const
  const checks: Check[] = written.flatMap(([name, named]) => {
    if (named === undefined) return []
    return [{ name, run: (report) => checkSpace(report, name, resolve(cwd, named)) }]
  })
  const add = (name: string, isNeeded: boolean, run: Check['run']) => {
    if (isNeeded) checks.push({ name, run })
  }
  const { snapshot = '' } = policy
  add('policy.snapshot', snapshot !== '', (report) => checkSnapshot(report, resolve(cwd, snapshot)))
  add('first passwords', isEmbedded, (report) => checkFirstPasswords(report, directory))
  const isGenerated = jwt.secret === undefined && jwt.keyDirectory === undefined
  add('jwt.secret', isGenerated, (report) => checkSecret(report, directory))
  add('console', console.enabled, checkPages)
  return checks
}

/** A gateway runs without its snapshot, until it has to start while Redis is unreachable. */
async function checkSnapshot(report: Report, file: string): Promise<void> {
  try {
    report.ok((await checkAppendable(file)).shown)
  } catch (error) {
    const fix = 'let the user of the gateway write there, or set another file'
    report.warning(messageOf(error), fix)
  }
}

/** Everyone who can read that file can log in as admin. */
function checkFirstPasswords(report: Report, directory: string): void {
  const file = firstPasswordsFile(directory)
  if (!existsSync(file)) return
  const fix = `log in, change these passwords, then delete the file: rm '${file}'`
  report.warning(`${file} still exists`, fix)
}

async function checkSecret(report: Report, directory: string): Promise<void> {
  try {
    const { file, secret } = await readGeneratedSecret(directory)
    const message =
      secret === undefined ? 'the first start generates one' : 'generated at an earlier start'
    report.ok(`${message}, in ${file}`)
  } catch (error) {
    const fix = 'fix the owner of the file, or delete it: that ends every session'
    report.problem(messageOf(error), fix)
  }
}

function checkPages(report: Report): void {
  try {
    report.ok(`${readPages(builtPages).length} files of its pages`)
  } catch (error) {
    report.problem(messageOf(error), 'build the pages, or set console.enabled to false')
  }
}

/** The message of an `Invalid`; anything else is a bug. */
function messageOf(error: unknown): string {
  if (error instanceof Invalid) return error.message
  throw error
}
