import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Invalid } from '../../kernel/errors.ts'
import { isLoopback } from '../../kernel/key-url.ts'
import { UsageError } from '../command.ts'
import type { Io } from '../io.ts'

/** Which console to ask, as the user named it. */
export interface GatewayOptions {
  readonly gateway: string | undefined
  readonly 'ca-file': string | undefined
  readonly 'allow-http': boolean
}

/** The console of a gateway. */
export interface Gateway {
  /** Scheme, host and port: what sessions belong to. */
  readonly origin: string
  /** Certificates to trust in place of those of the system. */
  readonly ca: string | undefined
  /** Of the service account that asks, in place of a session. */
  readonly token: string | undefined
}

/** Checks what the user named. Throws `UsageError`, or `Invalid` for a file that cannot be read. */
export function openGateway(options: GatewayOptions, io: Pick<Io, 'cwd' | 'env'>): Gateway {
  const text = options.gateway ?? io.env['POSTERN_GATEWAY']
  if (!text) {
    throw new UsageError(
      '--gateway is required: give the URL of the console, or set POSTERN_GATEWAY',
    )
  }
  const url = readUrl(text)
  if (url.protocol === 'http:' && !options['allow-http'] && !isLoopback(url.hostname)) {
    throw new UsageError(
      `--gateway: ${url.origin} would send passwords and sessions unencrypted: use https, or add --allow-http on a network that you trust`,
    )
  }
  const file = options['ca-file']
  const ca = file === undefined ? undefined : readText(file, io.cwd)
  return { origin: url.origin, ca, token: readToken(io) }
}

/** No option takes a token, because other users can see command lines. */
function readToken({ env, cwd }: Pick<Io, 'cwd' | 'env'>): string | undefined {
  const file = env['POSTERN_GATEWAY_TOKEN_FILE'] || undefined
  const variable = env['POSTERN_GATEWAY_TOKEN'] || undefined
  if (file !== undefined && variable !== undefined) {
    throw new UsageError(
      'POSTERN_GATEWAY_TOKEN and POSTERN_GATEWAY_TOKEN_FILE are both set: keep one',
    )
  }
  const text = (file === undefined ? variable : readText(file, cwd))?.trim()
  if (text === undefined || /^[\w.~+/=-]+$/.test(text)) return text
  const from = file === undefined ? 'POSTERN_GATEWAY_TOKEN' : file
  throw new UsageError(`${from} is not a token: set it to what "postern token issue" prints`)
}

function readUrl(text: string): URL {
  const url = URL.parse(text)
  // Neither shows the text: it may have a password.
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError('--gateway: write a URL such as https://gateway.example.com:9200')
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('--gateway: a URL must not have a password: use "postern gateway login"')
  }
  if (!/^\/(?:console\/?)?$/.test(url.pathname) || url.search !== '' || url.hash !== '') {
    throw new UsageError(`--gateway: write only ${url.origin}`)
  }
  return url
}

function readText(file: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Invalid([{ file, message: `cannot be read (${code})` }])
  }
}
