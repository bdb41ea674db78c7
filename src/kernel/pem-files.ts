import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { createSecureContext, type SecureContext } from 'node:tls'
import { Invalid, type Problem } from './errors.ts'

/** A certificate with its chain, and its private key, as PEM text. */
export interface CertificatePair {
  readonly cert: string
  readonly key: string
}

/** A file that was read, with its name for messages. */
export interface PemFile {
  readonly name: string
  readonly text: string
}

/** The certificates of every public authority take a quarter of this. */
const maxBytes = 1_048_576

/** The text of a file. Throws `Invalid` when it cannot be read, or is too large for what it is. */
export async function readPemFile(name: string): Promise<PemFile> {
  try {
    const stats = await stat(name)
    if (!stats.isFile()) throw new Invalid([{ file: name, message: 'is not a regular file' }])
    if (stats.size > maxBytes) {
      throw new Invalid([{ file: name, message: 'is larger than 1 MiB, too large for PEM' }])
    }
    return { name, text: await readFile(name, 'utf8') }
  } catch (error) {
    if (error instanceof Invalid) throw error
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable'
    throw new Invalid([{ file: name, message: `cannot be read (${reason})` }])
  }
}

/** The first certificate of a pair. Throws `Invalid` unless both are PEM and belong together. */
export function checkPair(cert: PemFile, key: PemFile): X509Certificate {
  const problems = [certificateProblem(cert), keyProblem(key)].filter((one) => one !== undefined)
  if (problems.length > 0) throw new Invalid(problems)

  const first = new X509Certificate(cert.text)
  if (!first.checkPrivateKey(createPrivateKey(key.text))) {
    throw new Invalid([{ file: key.name, message: `does not match the certificate ${cert.name}` }])
  }
  contextOf({ cert: cert.text, key: key.text }, cert.name)
  return first
}

/** The TLS context for a server. Throws `Invalid` when one of the files is unusable. */
export async function readClientContext(files: ClientFiles): Promise<SecureContext> {
  return clientContextOf(await readClientFiles(files))
}

/** Names of files, for TLS to another server. */
export interface ClientFiles {
  readonly caFile?: string | undefined
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
}

interface ReadClientFiles {
  readonly ca: PemFile | undefined
  readonly cert: PemFile | undefined
  readonly key: PemFile | undefined
}

export async function readClientFiles(files: ClientFiles): Promise<ReadClientFiles> {
  const [ca, cert, key] = await Promise.all(
    [files.caFile, files.certFile, files.keyFile].map((name) =>
      name ? readPemFile(name) : undefined,
    ),
  )
  return { ca, cert, key }
}

/** Throws `Invalid` when one of the files is unusable. */
export function clientContextOf({ ca, cert, key }: ReadClientFiles): SecureContext {
  const problem = ca ? certificateProblem(ca) : undefined
  if (problem !== undefined) throw new Invalid([problem])
  if (cert && key) checkPair(cert, key)
  return contextOf(
    { ...(ca && { ca: ca.text }), ...(cert && key && { cert: cert.text, key: key.text }) },
    (ca ?? cert)?.name ?? 'tls',
  )
}

function contextOf(options: { ca?: string; cert?: string; key?: string }, file: string) {
  try {
    return createSecureContext({ ...options, minVersion: 'TLSv1.2' })
  } catch (error) {
    // The code only: a message must not contain any part of a key.
    const reason = (error as NodeJS.ErrnoException).code ?? 'rejected by OpenSSL'
    throw new Invalid([{ file, message: `cannot be used for TLS (${reason})` }])
  }
}

const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

function certificateProblem({ name, text }: PemFile): Problem | undefined {
  const blocks = text.match(certificateBlock) ?? []
  if (blocks.length === 0) return { file: name, message: 'contains no PEM certificate' }
  try {
    for (const block of blocks) new X509Certificate(block)
    return undefined
  } catch {
    return { file: name, message: 'contains a certificate that cannot be parsed' }
  }
}

function keyProblem({ name, text }: PemFile): Problem | undefined {
  if (/ENCRYPTED/.test(text)) {
    return { file: name, message: 'is an encrypted key: use a key without a passphrase' }
  }
  try {
    createPrivateKey(text)
    return undefined
  } catch {
    return { file: name, message: 'contains no PEM private key' }
  }
}
