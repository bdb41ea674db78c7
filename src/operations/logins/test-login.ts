import { readFile } from 'node:fs/promises'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { resolve } from 'node:path'
import { modeFacts } from '../../config/mode.ts'
import { Fault } from '../../kernel/errors.ts'
import { isRecord, readJson } from '../../kernel/json.ts'
import { printable } from '../../kernel/printable.ts'
import { readText } from '../../kernel/response-text.ts'
import { createCaptchas } from '../../login/captcha/captcha.ts'
import { openText } from '../../login/captcha/sealed-text.ts'
import { createRedisCaptchas } from '../../stores/limits/redis-captchas.ts'
import { createDerivedKeys } from '../../token/derived-keys.ts'
import { withRedis } from '../configured-redis.ts'
import { decline } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { configuredKeys, type TokenSettings, tokenSettings } from '../tokens/configured-keys.ts'
import { redisOf } from '../tokens/revoke-tokens.ts'
import type { loginTest } from './descriptions.ts'

/** A revocation reaches every gateway within a second; more is a fault. */
const revokedWithinMs = 30_000

/** Logs in through a gateway as a client would, and logs out again. */
export const run: RunOf<typeof loginTest> = async ({ user: username, ...input }, context) => {
  const { url, 'password-file': file, insecure: isInsecure } = input
  if (!/^https?:\/\/[^/?#]+$/.test(url)) {
    throw new InvalidInput(
      'url',
      `${JSON.stringify(url)} is not an origin such as http://host:port`,
    )
  }
  const text =
    file === '-' ? await context.readStdin() : await readFile(resolve(context.cwd, file), 'utf8')
  const password = text.replace(/\r?\n$/, '')
  const settings = tokenSettings(context.configFile, context)
  const solved = await ownCaptcha(settings, () => context.now())
  const call = (path: string, body: object, token?: string) =>
    callGateway({ url, path, body, token, isInsecure })

  const login = await call('/api/v1/login', { username, password, ...solved })
  const { token } = login.json
  if (login.json['code'] !== 200 || typeof token !== 'string') decline(refused('login', login))
  // At once: the gateways may take a while to refuse the token.
  context.err(`postern: logged in as ${printable(username)}\n`)
  const { logout } = settings.config.endpoints
  if (logout !== 'gateway') {
    const note = `not logging out: endpoints.logout is the upstream ${logout}`
    return { document: { username, loggedOut: false }, notes: [note] }
  }
  const ended = await call('/api/v1/logout', {}, token)
  if (ended.json['code'] !== 200) decline(refused('logout', ended))
  await untilRefused(() => call('/api/v1/logout', {}, token))
  const document = { username, loggedOut: true }
  return { document, notes: ['logged out; the token is refused'] }
}

/**
 * A captcha that this command puts where the gateways look for it, as another replica would. So a login
 * succeeds only if they use the Redis and the keys of this configuration.
 */
async function ownCaptcha(settings: TokenSettings, clock: () => number) {
  const { config, shared } = settings
  const { captchaRequired } = modeFacts(config.application.mode, config.jwt.timeout)
  if (!captchaRequired) return { uuid: '-', code: '-' }
  const settingsOfRedis = redisOf(config)
  if (settingsOfRedis === undefined) {
    decline(
      'redis.url is not set: captchas are in the memory of the gateway, where only people can read them',
    )
  }
  const keys = await configuredKeys(settings)
  const sealKeys = createDerivedKeys(() => keys, 'captcha-text')
  const now = () => clock() / 1000
  return withRedis(settingsOfRedis, shared, async (redis) => {
    const { id, sealed } = await createCaptchas({
      ...config.captcha,
      store: createRedisCaptchas(redis, config.captcha),
      draw: () => Promise.reject(new Error('no picture is needed')),
      digestKeys: createDerivedKeys(() => keys, 'captcha'),
      sealKeys,
      now,
    }).offer()
    return { uuid: id, code: openText(sealKeys, sealed, now()) ?? '' }
  })
}

async function untilRefused(call: () => Promise<Answered>): Promise<void> {
  const start = performance.now()
  for (;;) {
    if ((await call()).json['code'] === 401) return
    if (performance.now() - start > revokedWithinMs) decline('the token is accepted after logout')
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

function refused(what: string, { status, json }: Answered): string {
  const said = JSON.stringify({ code: json['code'], msg: json['msg'] })
  return printable(`${what} refused: HTTP ${status} ${said}`)
}

interface Call {
  /** Origin of the gateway. */
  readonly url: string
  readonly path: string
  /** Sent as JSON. */
  readonly body: object
  readonly token: string | undefined
  /** Accept any certificate. */
  readonly isInsecure: boolean
}

interface Answered {
  readonly status: number
  /** Empty for a body that is no object in JSON. */
  readonly json: Readonly<Record<string, unknown>>
}

const timeoutMs = 30_000
/** More than any response of the endpoints of a gateway. */
const maxBytes = 1024 * 1024

/** Posts to the public port of a gateway. Throws a Fault when it does not answer. */
function callGateway({ url, path, body, token, isInsecure }: Call): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>()
  const fail = ({ message }: Error) =>
    reject(new Fault('gateway', { reason: `${url} did not answer: ${message}` }))
  const payload = JSON.stringify(body)
  const start = url.startsWith('https:') ? requestHttps : requestHttp
  const request = start(`${url}${path}`, {
    method: 'POST',
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
    ...(isInsecure && { rejectUnauthorized: false }),
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(payload),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
  })
  request.on('error', fail)
  request.on('response', (response) => {
    response.on('error', fail)
    readText(response, maxBytes, (text) =>
      resolve({ status: response.statusCode ?? 0, json: parsed(text) }),
    )
  })
  request.end(payload)
  return promise
}

function parsed(text: string): Answered['json'] {
  const value = readJson(text)
  return isRecord(value) ? value : {}
}
