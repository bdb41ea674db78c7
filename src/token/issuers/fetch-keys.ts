import { readFile } from 'node:fs/promises'
import { Invalid } from '../../kernel/errors.ts'
import { isRecord, readJson } from '../../kernel/json.ts'
import { keyUrlProblem } from '../../kernel/key-url.ts'
import { readClientContext } from '../../kernel/pem-files.ts'
import { type GetOptions, getBytes } from './get-bytes.ts'
import type { IssuerAlgorithm } from './issuer.ts'
import { type IssuerKeySet, parseIssuerKeySet } from './issuer-key-set.ts'

/** Where the keys of an issuer are. */
export interface KeySource {
  readonly issuer: string
  readonly algorithms: readonly IssuerAlgorithm[]
  /** Unset: the discovery document of the issuer names it. */
  readonly jwksUri?: string | undefined
  readonly caFile?: string | undefined
  /** Holds the bearer token for the key request, as Kubernetes requires it. */
  readonly tokenFile?: string | undefined
}

/**
 * Fetches the keys of an issuer. Reads the files each time: Kubernetes replaces both of them. Rejects
 * with an error whose message is a reason for the log.
 */
export async function fetchKeys(
  source: KeySource,
  signal: AbortSignal,
  onDate?: GetOptions['onDate'],
): Promise<IssuerKeySet> {
  const { caFile, tokenFile, algorithms } = source
  const secureContext = caFile === undefined ? undefined : await readClientContext({ caFile })
  const bearer = tokenFile === undefined ? undefined : await readBearer(tokenFile)
  const options = { secureContext, bearer, signal, onDate }
  const url = await keyUrl(source, options)
  // The token authenticates us: only an address of the configuration may have it.
  const isNamed = source.jwksUri !== undefined || url.origin === new URL(source.issuer).origin
  const bytes = await getBytes(url, isNamed ? options : { ...options, bearer: undefined })
  return parseIssuerKeySet(bytes, algorithms)
}

async function keyUrl({ issuer, jwksUri }: KeySource, options: GetOptions): Promise<URL> {
  if (jwksUri !== undefined) return new URL(jwksUri)
  // OpenID Connect Discovery 4: a trailing slash is removed first.
  const address = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  const document = readDocument(await getBytes(address, options))
  // Discovery 4.3: else any server could speak for the issuer.
  if (document['issuer'] !== issuer) throw otherIssuer(document['issuer'])
  const found = document['jwks_uri']
  if (typeof found !== 'string') throw new Error('the discovery document has no jwks_uri')
  const problem = keyUrlProblem(found)
  if (problem !== undefined) throw new Error(`jwks_uri of the discovery document ${problem}`)
  const url = new URL(found)
  if (address.protocol === 'https:' && url.protocol !== 'https:') {
    throw new Error('jwks_uri of the discovery document must use https://')
  }
  return url
}

/** Most often a slash, http or another host name: operators need to see the right one. */
export function otherIssuer(named: unknown): Error {
  if (typeof named !== 'string') return new Error('the discovery document names no issuer')
  return new Error(`the discovery document names issuer ${named.slice(0, 512)}: use it as issuer`)
}

function readDocument(bytes: Buffer): Readonly<Record<string, unknown>> {
  const value = readJson(bytes.toString())
  if (isRecord(value)) return value
  // Without the message of the parser, which would quote the answer.
  throw new Error('the discovery document is not a JSON object')
}

/** The token in a file. Throws `Invalid`. */
export async function readBearer(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unusable(file, `cannot be read (${error.code})`)
  })
  const token = text.trim()
  // Also keeps a line break out of the header.
  if (!/^[\x21-\x7e]{1,16384}$/.test(token)) throw unusable(file, 'does not contain one token')
  return token
}

function unusable(file: string, message: string): Invalid {
  return new Invalid([{ file, message }])
}
