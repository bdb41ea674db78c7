import { access, constants, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { secretWeakness } from '../config/secret-strength.ts'
import { Invalid, type Problem } from '../errors.ts'
import { preparePolicies } from '../policy/prepare.ts'
import { readKeyFiles } from '../stores/key-files.ts'
import { checkPair, readClientContext, readPemFile } from '../stores/pem-files.ts'
import { readPolicyFiles } from '../stores/policy-files.ts'
import { assertionSigner } from '../token/assertions.ts'
import { type KeySetOptions, parseKeySet } from '../token/key-set.ts'
import { secretKey } from '../token/keys.ts'

/** Where a setting was written. */
type PlaceOf = (setting: string) => Omit<Problem, 'message'>

interface FileCheck {
  /** The setting that names the file. */
  readonly setting: string
  readonly run: () => Promise<unknown>
}

/**
 * What is wrong with the files and directories that a gateway opens at its start: all of it, at the
 * setting that names the file, or at the line of the file where there is one.
 */
export async function fileProblems(
  config: Config,
  { cwd, placeOf }: { readonly cwd: string; readonly placeOf: PlaceOf },
): Promise<readonly Problem[]> {
  const found = await Promise.all(
    fileChecks(config, cwd).map(({ setting, run }) =>
      run().then(
        () => [],
        (error) => problemsOf(error, setting, placeOf),
      ),
    ),
  )
  return found.flat()
}

function fileChecks(config: Config, cwd: string): readonly FileCheck[] {
  const at = (path: string) => resolve(cwd, path)
  const { tls, jwt, policy, logger } = config
  const checks: FileCheck[] = []
  if (tls !== undefined) {
    checks.push({ setting: 'tls', run: () => checkTls(at(tls.certFile), at(tls.keyFile)) })
  }
  for (const [name, { tls: own }] of Object.entries(config.upstreams)) {
    if (own === undefined) continue
    const files = Object.entries({ ...own }).filter(([key]) => key.endsWith('File'))
    const named = Object.fromEntries(files.map(([key, path]) => [key, at(String(path))]))
    checks.push({ setting: `upstreams.${name}.tls`, run: () => readClientContext(named) })
  }
  if (jwt.keyDirectory !== undefined) {
    const directory = at(jwt.keyDirectory)
    checks.push({ setting: 'jwt.keyDirectory', run: () => checkKeys(config, directory) })
  }
  if (policy.source === 'files') {
    const run = async () => preparePolicies(await readPolicyFiles(at(policy.directory)))
    checks.push({ setting: 'policy.directory', run })
  }
  const { enabled, file } = logger.decisions
  if (enabled && file !== undefined) {
    checks.push({ setting: 'logger.decisions.file', run: () => checkWritable(at(file)) })
  }
  return checks
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

async function checkKeys({ jwt, identity }: Config, directory: string): Promise<void> {
  const options: KeySetOptions = {
    secretWeakness,
    ...(jwt.secret !== undefined && { secret: await secretKey(jwt.secret, 1) }),
  }
  const set = await parseKeySet(directory, await readKeyFiles(directory), options)
  if (!identity.assertion.enabled || assertionSigner(set) !== undefined) return
  const message = 'identity.assertion needs one private key here, or one named to sign'
  throw new Invalid([{ file: directory, message }])
}

/** Whether lines can be appended. What does not exist is created, and is not created here. */
async function checkWritable(file: string): Promise<void> {
  const exists = await stat(file).then(
    () => true,
    () => false,
  )
  try {
    await access(exists ? file : dirname(file), constants.W_OK)
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw new Invalid([{ file, message: `cannot be written (${code})` }])
  }
}

/** A line of a policy or key file says more than the setting; else the setting is the place. */
function problemsOf(error: unknown, setting: string, placeOf: PlaceOf): readonly Problem[] {
  if (!(error instanceof Invalid)) throw error
  return error.problems.map((problem) => {
    if (problem.line !== undefined) return problem
    const message = `${setting}: ${problem.file} ${problem.message}`
    return { ...placeOf(setting), message }
  })
}
