import { X509Certificate } from 'node:crypto'
import { access, constants, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { secretWeakness } from '../../config/checks/secret-strength.ts'
import type { Draft } from '../../config/schema/schema.ts'
import { count } from '../../kernel/count.ts'
import { Invalid } from '../../kernel/errors.ts'
import {
  type ClientFiles,
  checkPair,
  clientContextOf,
  readClientFiles,
  readPemFile,
} from '../../kernel/pem-files.ts'
import { domainProblem } from '../../policy/domain.ts'
import { preparePolicies } from '../../policy/engine/prepare.ts'
import { exposedKeys } from '../../stores/keys/key-feed.ts'
import { readKeyFiles } from '../../stores/keys/key-files.ts'
import { readPolicyFiles } from '../../stores/policies/policy-files.ts'
import { assertionSigner } from '../../token/assertions.ts'
import { type KeySetOptions, parseKeySet } from '../../token/key-set.ts'
import { secretKey } from '../../token/keys.ts'

/** What a usable file contains, in words. Nothing of it is secret. */
export interface FileFacts {
  readonly shown: string
  /** When its certificate expires. */
  readonly expires?: Date
  /** What a gateway logs about it as a warning, with what to do. */
  readonly warnings?: readonly { readonly message: string; readonly fix: string }[]
}

/** Throws `Invalid` unless a gateway can decide by the policy of this directory. */
export async function checkPolicy({ policy }: Draft, directory: string): Promise<FileFacts> {
  const files = await readPolicyFiles(directory)
  const { hasDomain, revision, ruleCount } = await preparePolicies(files)
  const { from } = policy?.domain ?? {}
  const message = domainProblem(hasDomain, from && { from })
  const file = files.find(({ name }) => name.endsWith('model.conf'))?.name ?? directory
  if (message !== undefined) throw new Invalid([{ file, line: 1, message }])
  return { shown: `${directory}: ${count(ruleCount, 'rule')}, revision ${revision}` }
}

/** Throws `Invalid` unless a listener can use this certificate with this key. */
export async function checkTls(certFile: string, keyFile: string): Promise<FileFacts> {
  const read = await Promise.allSettled([readPemFile(certFile), readPemFile(keyFile)])
  const [cert, key] = read
  if (cert.status === 'fulfilled' && key.status === 'fulfilled') {
    return certificateFacts(certFile, checkPair(cert.value, key.value))
  }
  const reasons = read.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  throw new Invalid(reasons.flatMap((reason) => (reason instanceof Invalid ? reason.problems : [])))
}

/** Checks the files of a connection to another server. */
export async function checkClientFiles(files: ClientFiles): Promise<FileFacts | undefined> {
  const read = await readClientFiles(files)
  clientContextOf(read)
  const all = [read.ca, read.cert].flatMap((file) =>
    file === undefined ? [] : [certificateFacts(file.name, new X509Certificate(file.text))],
  )
  return all.toSorted((a, b) => a.expires.getTime() - b.expires.getTime())[0]
}

function certificateFacts(file: string, { subjectAltName, subject, validTo }: X509Certificate) {
  const expires = new Date(validTo)
  const name = subjectAltName ?? subject.replaceAll('\n', ', ')
  return { shown: `${file}: certificate for ${name}`, expires }
}

/** Throws `Invalid` unless the keys of this directory can be used. */
export async function checkKeys({ jwt, identity }: Draft, directory: string): Promise<FileFacts> {
  const options: KeySetOptions = {
    secretWeakness,
    ...(jwt?.secret !== undefined && { secret: await secretKey(jwt.secret, 1) }),
  }
  const files = await readKeyFiles(directory)
  const set = await parseKeySet(directory, files, options)
  if (identity?.assertion?.enabled === true && assertionSigner(set) === undefined) {
    const message =
      'identity.assertion requires one private key here, or a file "signer" that names one'
    throw new Invalid([{ file: directory, message }])
  }
  const signs = set.signer === undefined ? 'none signs' : `${set.signer.kid ?? 'jwt.secret'} signs`
  return {
    shown: `${directory}: ${count(set.entries.length, 'key')}, ${signs}`,
    warnings: [
      ...(set.signer === undefined ? [unsigned] : []),
      ...exposedKeys(set, files).map((file) => ({
        message: `the private key ${file} is readable by other users`,
        fix: `chmod 0400 ${file}`,
      })),
    ],
  }
}

const unsigned = {
  message: 'no key signs tokens, so logins fail',
  fix: 'create a key with "postern keys generate", or name one with "postern keys use"',
}

/** Checks that lines can be appended, without creating a missing file. */
export async function checkAppendable(file: string): Promise<FileFacts> {
  const existing = await kindOf(file)
  if (existing === 'directory') throw unwritable(file, 'EISDIR')
  const parent = dirname(file)
  if (existing === undefined && (await kindOf(parent)) === 'file') throw unwritable(file, 'ENOTDIR')
  await checkAccess(existing === undefined ? parent : file, file)
  return { shown: `${file} can be written` }
}

/** Checks that files, or the directory itself, can be created. */
export async function checkDirectory(directory: string): Promise<FileFacts> {
  const nearest = await nearestExisting(directory)
  if ((await kindOf(nearest)) === 'file') throw unwritable(directory, 'ENOTDIR')
  await checkAccess(nearest, directory)
  return {
    shown: `${directory} ${nearest === directory ? 'can be written' : 'can be created'}`,
  }
}

/** The path itself, or the first directory above it that exists. */
export async function nearestExisting(path: string): Promise<string> {
  let nearest = path
  while ((await kindOf(nearest)) === undefined) nearest = dirname(nearest)
  return nearest
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
