import { resolve } from 'node:path'
import { configuredIssuers } from '../../config/issuers.ts'
import type { Config } from '../../config/schema/schema.ts'
import { printable } from '../../kernel/printable.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import { parseCompactForm, parseObject } from '../../token/compact-form.ts'
import { createIssuerTokens } from '../../token/issuers/issuer-tokens.ts'
import { openIssuers } from '../../token/issuers/open-issuers.ts'
import type { ForeignTokens } from '../../token/tokens.ts'
import { InvalidInput } from '../invalid-input.ts'

/** The longest fetch of keys, so that a command says why it failed. */
const waitMs = 10_000

/**
 * Runs `work` with the keys of the issuer that this token names, which are fetched from it once. Without
 * such an issuer in the configuration, no request leaves this machine, and `foreign` is missing.
 */
export async function withForeignKeys<Result>(
  text: string,
  { config, cwd }: { readonly config: Config; readonly cwd: string },
  work: (foreign: ForeignTokens | undefined) => Promise<Result>,
): Promise<Result> {
  const payload = parseCompactForm(text, config.jwt.maxTokenBytes)?.payload
  const named = parseObject(payload)?.['iss']
  const found = configuredIssuers(config.issuers).filter(({ issuer }) => issuer === named)
  if (found.length === 0) return work(undefined)

  const inPlace = found.map((each) => {
    const { caFile, tokenFile } = each
    return {
      ...each,
      waitMs,
      ...(caFile !== undefined && { caFile: resolve(cwd, caFile) }),
      ...(tokenFile !== undefined && { tokenFile: resolve(cwd, tokenFile) }),
    }
  })
  const { issuers, close } = openIssuers(inPlace, { info() {}, warn() {} })
  const { clockSkewSeconds } = config.jwt
  const domainClaim = config.policy.domain?.claim
  const now = () => Date.now() / 1000
  try {
    return await work(createIssuerTokens({ issuers, clockSkewSeconds, domainClaim, now }))
  } finally {
    await close()
  }
}

/** The configured issuer with this name, or with this `iss`. Throws `InvalidInput` without one. */
export function namedIssuer(name: string, config: Config) {
  const all = configuredIssuers(config.issuers)
  const found = all.find((each) => each.name === name || each.issuer === name)
  if (found !== undefined) return found
  if (all.length === 0) throw new InvalidInput('issuer', 'the configuration has no issuers')
  const names = all.map((each) => each.name)
  throw new InvalidInput(
    'issuer',
    `${JSON.stringify(name)} is not configured (configured: ${names.join(', ')})${didYouMean(name, names)}`,
  )
}

/** Says that the issuer of a token is not configured, and which one may be meant: a slash matters. */
export function unknownIssuer(issuer: unknown, { issuers }: Config): string | undefined {
  const known = issuers.map((each) => each.issuer)
  if (typeof issuer !== 'string' || known.includes(issuer)) return undefined
  const shown = printable(JSON.stringify(issuer.slice(0, 200)))
  return `no configured key signed it, and its issuer ${shown} is not configured${didYouMean(issuer, known)}`
}
