import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { parsePrivateKey } from '../../signing/ssh-private-key.ts'
import { parseKeyLine } from '../../signing/ssh-public-key.ts'
import { createSignature, isGoodSignature, parseSignature } from '../../signing/ssh-signature.ts'
import { namespaceOf, parseStatement } from '../../signing/statement.ts'

/** Larger than any key file. */
const maxBytes = 16_384

/**
 * A key that a person signs policies with. Opens a key: PEM of `postern keys generate --for
 * policy`, an OpenSSH private key, or the `.pub` file of a key that an agent holds. Throws
 * `Invalid` for any other file.
 */
export async function openPolicySigner(
  file: string,
  {
    cwd,
    env,
  }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
) {
  const path = resolve(cwd, file)
  const { text, mode } = await readKey(path, file)
  const found = isPublic.test(text) ? publicPart(text) : parsePrivateKey(text)
  if (typeof found === 'string') throw new Invalid([{ file, message: found }])
  const { publicKey } = found

  /** The armored signature of a statement, for the purpose that the statement names. */
  async function sign(statement: string): Promise<string> {
    const purpose = parseStatement(statement)?.purpose
    if (purpose === undefined) throw new Fault('keys', { reason: 'not a policy statement' })
    const namespace = namespaceOf(purpose)
    if (typeof found !== 'string' && found.kind === 'private') {
      return createSignature(statement, namespace, found.key)
    }
    const signature = await signWithSshKeygen(statement, { file: path, namespace, env })
    const parsed = parseSignature(signature)
    const isGood = parsed !== undefined && isGoodSignature(parsed, statement, publicKey)
    if (isGood && parsed.namespace === namespace) return signature
    throw new Fault('keys', { reason: `ssh-keygen made a signature that ${file} does not verify` })
  }

  return {
    publicKey,
    /** Whether users other than the owner can read the private key. */
    isExposed: found.kind !== 'public' && (mode & 0o077) !== 0,
    sign,
  }
}

const isPublic = /^\s*(?:ssh|ecdsa|sk)-\S+\s/

function publicPart(text: string) {
  const line = parseKeyLine(text.trim())
  return typeof line === 'string' ? line : ({ kind: 'public', publicKey: line } as const)
}

async function readKey(path: string, shown: string) {
  try {
    const { mode, size } = await stat(path)
    if (size <= maxBytes) return { text: await readFile(path, 'utf8'), mode }
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable'
    throw new Invalid([{ file: shown, message: `cannot be read (${reason})` }])
  }
  throw new Invalid([{ file: shown, message: 'is too large for a key' }])
}

/** Longer than a person takes to find a passphrase or to touch a key. */
const timeout = 300_000

/**
 * Signs a text with a key that only OpenSSH can use: one with a passphrase, for which it asks on the
 * terminal, or one that an agent holds. `file` is an absolute path.
 */
async function signWithSshKeygen(
  text: string,
  { file, namespace, env }: SshKeygenOptions,
): Promise<string> {
  const args = ['-Y', 'sign', '-n', namespace, '-f', file]
  return new Promise((resolve, reject) => {
    const options = { env: { ...withoutSettings(env), LC_ALL: 'C' }, maxBuffer: 65_536, timeout }
    const child = execFile('ssh-keygen', args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else if (error.code === 'ENOENT') {
        const need = `${file} needs ssh-keygen, which is not installed`
        reject(new Fault('keys', { reason: `${need}: install OpenSSH, or use another key` }))
      } else {
        const complaint = lastLine(stderr) || String(error.code ?? error.signal)
        reject(new Fault('keys', { reason: `ssh-keygen did not sign: ${complaint}` }))
      }
    })
    // An ssh-keygen that ends before it has read its input is noticed by how it ends.
    child.stdin?.on('error', () => {})
    child.stdin?.end(text)
  })
}

interface SshKeygenOptions {
  readonly file: string
  readonly namespace: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Settings may contain secrets, which another program need not see. */
function withoutSettings(env: SshKeygenOptions['env']): SshKeygenOptions['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('POSTERN_')))
}

function lastLine(stderr: string): string {
  return stderr.trim().split(/\r?\n/).at(-1)?.slice(0, 200) ?? ''
}
