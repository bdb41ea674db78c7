import { access, constants, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { secretWeakness } from '../../config/checks/secret-strength.ts'
import type { Written } from '../../config/load.ts'
import type { Draft } from '../../config/schema/schema.ts'
import { formatProblem, Invalid, type Problem } from '../../errors.ts'
import { checkModule } from '../../login/module/check-module.ts'
import { readLogo } from '../../page/read-logo.ts'
import { domainProblem } from '../../policy/domain.ts'
import { preparePolicies } from '../../policy/engine/prepare.ts'
import { readResponseFile } from '../../stores/files/response-file.ts'
import { readBearer } from '../../stores/issuers/fetch-keys.ts'
import { readKeyFiles } from '../../stores/keys/key-files.ts'
import { checkPair, readClientContext, readPemFile } from '../../stores/keys/pem-files.ts'
import { readTrust } from '../../stores/keys/trusted-keys.ts'
import { readPolicyFiles } from '../../stores/policies/policy-files.ts'
import { assertionSigner } from '../../token/assertions.ts'
import { type KeySetOptions, parseKeySet } from '../../token/key-set.ts'
import { secretKey } from '../../token/keys.ts'

interface FileCheck {
  /** The setting that names the file. */
  readonly setting: string
  readonly run: () => Promise<unknown>
}

/**
 * Every problem of the files and directories that a gateway opens at startup, at the line of the file
 * if known, else at the setting that names the file.
 */
export async function fileProblems(written: Written, cwd: string): Promise<readonly Problem[]> {
  const found = await Promise.all(
    fileChecks(written, cwd).map(({ setting, run }) =>
      run().then(
        () => [],
        (error) => problemsOf(error, setting, written.placeOf),
      ),
    ),
  )
  return found.flat()
}

function fileChecks({ draft, hasProblem }: Written, cwd: string): readonly FileCheck[] {
  const at = (path: string) => resolve(cwd, path)
  const { application, database, tls, jwt, policy, login, logger, routes } = draft
  const { certFile, keyFile } = tls ?? {}
  const checks: FileCheck[] = []
  if (certFile !== undefined && keyFile !== undefined) {
    checks.push({ setting: 'tls', run: () => checkTls(at(certFile), at(keyFile)) })
  }
  for (const [name, upstream] of Object.entries(draft.upstreams ?? {})) {
    const files = Object.entries({ ...upstream?.tls }).filter(([key]) => key.endsWith('File'))
    if (files.length === 0) continue
    const named = Object.fromEntries(files.map(([key, path]) => [key, at(String(path))]))
    checks.push({ setting: `upstreams.${name}.tls`, run: () => readClientContext(named) })
  }
  draft.issuers?.forEach((issuer, index) => {
    const { caFile, tokenFile } = issuer ?? {}
    const named = `issuers[${index}]`
    if (caFile !== undefined) {
      const run = () => readClientContext({ caFile: at(caFile) })
      checks.push({ setting: `${named}.caFile`, run })
    }
    if (tokenFile === undefined) return
    checks.push({ setting: `${named}.tokenFile`, run: () => readBearer(at(tokenFile)) })
  })
  const { caFile: directoryCaFile } = login?.ldap ?? {}
  if (directoryCaFile !== undefined) {
    const run = () => readClientContext({ caFile: at(directoryCaFile) })
    checks.push({ setting: 'login.ldap.caFile', run })
  }
  if (jwt?.keyDirectory !== undefined) {
    const directory = at(jwt.keyDirectory)
    checks.push({ setting: 'jwt.keyDirectory', run: () => checkKeys(draft, directory) })
  }
  if (policy?.source === 'files' && policy.directory !== undefined) {
    const directory = at(policy.directory)
    const run = async () => checkPolicy(draft, directory)
    checks.push({ setting: 'policy.directory', run })
  }
  const { keys = [], signatures = 1 } = policy?.trust ?? {}
  if (keys.length > 0 && !hasProblem('policy.trust')) {
    const known = keys.filter((key) => key !== undefined)
    const run = async () => readTrust({ keys: known, signatures }, cwd)
    checks.push({ setting: 'policy.trust', run })
  }
  const { module } = login ?? {}
  if (module !== undefined && !hasProblem('login.module')) {
    checks.push({ setting: 'login.module', run: () => checkModule(at(module), { ...login }) })
  }
  const { enabled: hasPage, logo } = login?.page ?? {}
  if (hasPage && logo !== undefined) {
    checks.push({ setting: 'login.page.logo', run: () => readLogo(at(logo)) })
  }
  routes?.forEach((route, index) => {
    const response = route?.respond?.file
    if (response === undefined) return
    const setting = `routes[${index}].respond.file`
    checks.push({ setting, run: () => readResponseFile(at(response)) })
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

async function checkPolicy({ policy }: Draft, directory: string): Promise<void> {
  const files = await readPolicyFiles(directory)
  const { hasDomain } = await preparePolicies(files)
  const { from } = policy?.domain ?? {}
  const message = domainProblem(hasDomain, from && { from })
  const file = files.find(({ name }) => name.endsWith('model.conf'))?.name ?? directory
  if (message !== undefined) throw new Invalid([{ file, line: 1, message }])
}

async function checkTls(certFile: string, keyFile: string): Promise<void> {
  const read = await Promise.allSettled([readPemFile(certFile), readPemFile(keyFile)])
  const [cert, key] = read
  if (cert.status === 'fulfilled' && key.status === 'fulfilled') {
    checkPair(cert.value, key.value)
    return
  }
  const reasons = read.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  throw new Invalid(reasons.flatMap((reason) => (reason instanceof Invalid ? reason.problems : [])))
}

async function checkKeys({ jwt, identity }: Draft, directory: string): Promise<void> {
  const options: KeySetOptions = {
    secretWeakness,
    ...(jwt?.secret !== undefined && { secret: await secretKey(jwt.secret, 1) }),
  }
  const set = await parseKeySet(directory, await readKeyFiles(directory), options)
  if (identity?.assertion?.enabled !== true || assertionSigner(set) !== undefined) return
  const message =
    'identity.assertion requires one private key here, or a file "signer" that names one'
  throw new Invalid([{ file: directory, message }])
}

/** Checks that lines can be appended, without creating a missing file. */
async function checkAppendable(file: string): Promise<void> {
  const existing = await kindOf(file)
  if (existing === 'directory') throw unwritable(file, 'EISDIR')
  const parent = dirname(file)
  if (existing === undefined && (await kindOf(parent)) === 'file') throw unwritable(file, 'ENOTDIR')
  await checkAccess(existing === undefined ? parent : file, file)
}

/** Checks that files, or the directory itself, can be created. */
async function checkDirectory(directory: string): Promise<void> {
  let nearest = directory
  while ((await kindOf(nearest)) === undefined) nearest = dirname(nearest)
  if ((await kindOf(nearest)) === 'file') throw unwritable(directory, 'ENOTDIR')
  await checkAccess(nearest, directory)
}

async function kindOf(path: string): Promise<'file' | 'directory' | undefined> {
  try {
    return (await stat(path)).isDirectory() ? 'directory' : 'file'
  } catch {
    return undefined
  }
}

/** `wanted`: the path that the problem names. */
async function checkAccess(path: string, wanted: string): Promise<void> {
  try {
    await access(path, constants.W_OK)
  } catch (error) {
    throw unwritable(wanted, (error as NodeJS.ErrnoException).code ?? 'unknown error')
  }
}

function unwritable(path: string, reason: string): Invalid {
  return new Invalid([{ file: path, message: `cannot be written (${reason})` }])
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
