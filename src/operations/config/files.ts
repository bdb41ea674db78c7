import { resolve } from 'node:path'
import type { Written } from '../../config/load.ts'
import { methodNames, namedProviders } from '../../config/login-providers.ts'
import type { Draft } from '../../config/schema/schema.ts'
import { count } from '../../kernel/count.ts'
import { formatProblem, Invalid, type Problem } from '../../kernel/errors.ts'
import type { NamedFile } from '../../login/method-kind.ts'
import { loginMethods } from '../../login/methods/login-methods.ts'
import { readOpenApi } from '../../openapi/document.ts'
import { readLogo } from '../../page/read-logo.ts'
import { readTemplates } from '../../page/templates.ts'
import { readResponseFile } from '../../stores/files/response-file.ts'
import { readTrust } from '../../stores/keys/trusted-keys.ts'
import { readBearer } from '../../token/issuers/fetch-keys.ts'
import {
  checkAppendable,
  checkClientFiles,
  checkDirectory,
  checkKeys,
  checkPolicy,
  checkTls,
  type FileFacts,
} from './file-facts.ts'

interface FileCheck {
  /** The setting that names the file. */
  readonly setting: string
  readonly run: () => Promise<FileFacts | undefined>
}

/** A setting that names a file or directory: what is wrong with it, or what it contains. */
interface CheckedFile {
  readonly setting: string
  readonly problems: readonly Problem[]
  readonly facts?: FileFacts | undefined
}

/**
 * Opens the files and directories that a gateway opens at startup. A problem is at the line of the file
 * if known, else at the setting that names the file.
 */
export async function checkFiles(written: Written, cwd: string): Promise<readonly CheckedFile[]> {
  return Promise.all(
    (await fileChecks(written, cwd)).map(({ setting, run }) =>
      run().then(
        (facts): CheckedFile => ({ setting, problems: [], facts }),
        (error) => ({ setting, problems: problemsOf(error, setting, written.placeOf) }),
      ),
    ),
  )
}

async function fileChecks(
  { draft, hasProblem }: Written,
  cwd: string,
): Promise<readonly FileCheck[]> {
  const at = (path: string) => resolve(cwd, path)
  const { application, database, tls, jwt, policy, login, logger, routes } = draft
  const { certFile, keyFile } = tls ?? {}
  const methodFiles = await filesOfMethods(login ?? {}, cwd)
  const checks: FileCheck[] = []
  if (certFile !== undefined && keyFile !== undefined) {
    checks.push({ setting: 'tls', run: () => checkTls(at(certFile), at(keyFile)) })
  }
  const ofConsole = draft.console?.tls
  if (ofConsole?.certFile !== undefined && ofConsole.keyFile !== undefined) {
    const [cert, key] = [at(ofConsole.certFile), at(ofConsole.keyFile)]
    checks.push({ setting: 'console.tls', run: () => checkTls(cert, key) })
  }
  for (const [name, upstream] of Object.entries(draft.upstreams ?? {})) {
    const files = Object.entries({ ...upstream?.tls }).filter(([key]) => key.endsWith('File'))
    if (files.length === 0) continue
    const named = Object.fromEntries(files.map(([key, path]) => [key, at(String(path))]))
    checks.push({ setting: `upstreams.${name}.tls`, run: () => checkClientFiles(named) })
  }
  draft.issuers?.forEach((issuer, index) => {
    const { caFile, tokenFile } = issuer ?? {}
    const named = `issuers[${index}]`
    if (caFile !== undefined) {
      const run = () => checkClientFiles({ caFile: at(caFile) })
      checks.push({ setting: `${named}.caFile`, run })
    }
    if (tokenFile === undefined) return
    checks.push({ setting: `${named}.tokenFile`, run: () => ignored(readBearer(at(tokenFile))) })
  })
  if (jwt?.keyDirectory !== undefined) {
    const directory = at(jwt.keyDirectory)
    checks.push({ setting: 'jwt.keyDirectory', run: () => checkKeys(draft, directory) })
  }
  if (policy?.source === 'files' && policy.directory !== undefined) {
    const directory = at(policy.directory)
    const run = async () => checkPolicy(draft, directory)
    checks.push({ setting: 'policy.directory', run })
  }
  policy?.openapi?.forEach((name, index) => {
    if (name === undefined) return
    const run = async () => {
      const { operations } = await readOpenApi({ path: at(name), name })
      return { shown: count(operations.length, 'operation') }
    }
    checks.push({ setting: `policy.openapi[${index}]`, run })
  })
  const { keys = [], signatures = 1 } = policy?.trust ?? {}
  if (keys.length > 0 && !hasProblem('policy.trust')) {
    const known = keys.filter((key) => key !== undefined)
    const run = async () => {
      const trust = readTrust({ keys: known, signatures }, cwd)
      return { shown: `${count(trust.keys.length, 'key')}, of which ${signatures} must sign` }
    }
    checks.push({ setting: 'policy.trust', run })
  }
  for (const { setting, caFile, read } of methodFiles) {
    const run = async () =>
      caFile === undefined ? ignored(read?.()) : checkClientFiles({ caFile })
    if (!hasProblem(setting)) checks.push({ setting, run })
  }
  const { enabled: hasPage, logo } = login?.page ?? {}
  if (hasPage && logo !== undefined) {
    checks.push({ setting: 'login.page.logo', run: () => ignored(readLogo(at(logo))) })
  }
  const pages = draft.pages?.directory
  if (hasPage && pages !== undefined) {
    const run = async () => ({ shown: (await readTemplates(at(pages))).shown })
    checks.push({ setting: 'pages.directory', run })
  }
  for (const { setting, icon } of hasPage ? namedProviders(login ?? {}) : []) {
    if (icon === undefined) continue
    checks.push({ setting: `login.${setting}.icon`, run: () => ignored(readLogo(at(icon))) })
  }
  routes?.forEach((route, index) => {
    const response = route?.respond?.file
    if (response === undefined) return
    const setting = `routes[${index}].respond.file`
    checks.push({ setting, run: () => ignored(readResponseFile(at(response))) })
  })
  const { enabled, file } = logger?.decisions ?? {}
  if (enabled && file !== undefined) {
    checks.push({ setting: 'logger.decisions.file', run: () => checkAppendable(at(file)) })
  }
  // Without database.url, Postern keeps its embedded database there.
  const directory = application?.dataDirectory
  if (database?.url === undefined && directory !== undefined && !hasProblem('database.url')) {
    const run = () => checkDirectory(at(directory))
    checks.push({ setting: 'application.dataDirectory', run })
  }
  return checks
}

async function filesOfMethods(
  login: NonNullable<Draft['login']>,
  cwd: string,
): Promise<readonly NamedFile[]> {
  const configured = loginMethods.filter(({ isConfigured }) => isConfigured(login))
  const loaded = await Promise.all(configured.map(({ load }) => load()))
  return loaded.flatMap(({ files }) => files?.(login, cwd, methodNames(login)) ?? [])
}

/** For a file whose content is not needed here, or that is secret. */
async function ignored(reading: Promise<unknown> | undefined): Promise<undefined> {
  await reading
}

/** Keeps the line of a policy or key file; places every other problem at the setting. */
function problemsOf(
  error: unknown,
  setting: string,
  placeOf: Written['placeOf'],
): readonly Problem[] {
  if (!(error instanceof Invalid)) throw error
  return error.problems.map((problem) => {
    if (problem.line !== undefined) return problem
    // A problem of a setting, not of a file.
    if (problem.file.startsWith(setting)) {
      return { ...placeOf(problem.file), message: formatProblem(problem) }
    }
    const message = `${setting}: ${problem.file} ${problem.message}`
    return { ...placeOf(setting), message }
  })
}
