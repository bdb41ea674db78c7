import { describe, expect, test } from 'vitest'
import { parseCompactForm } from '../../src/token/compact-form.ts'
import { parseKeyFile } from '../../src/token/key-file.ts'
import { confusions } from '../../src/token/key-set.ts'
import type { verifyingKey } from '../../src/token/keys.ts'
import { chooseKey, isSignedBy } from '../../src/token/tokens.ts'
import { WeakKey } from '../../src/token/weak-keys.ts'
import { corpusText } from '../support/corpora.ts'

type Jwk = Parameters<typeof verifyingKey>[0]

interface Group {
  readonly comment: string
  readonly public?: Jwk | { readonly keys: readonly Jwk[] }
  readonly private?: Jwk | { readonly keys: readonly Jwk[] }
  readonly tests: readonly {
    readonly tcId: number
    readonly jws?: string
    readonly result: 'valid' | 'invalid' | 'acceptable'
  }[]
}

function jwksOf(group: Group): readonly Jwk[] {
  const source = group.public ?? group.private
  if (source === undefined) return []
  return 'keys' in source ? (source.keys as readonly Jwk[]) : [source as Jwk]
}

/** Whether our own reading of keys and compact form, with jose behind it, takes this signature. */
async function accepts(jwks: readonly Jwk[], jws: string): Promise<boolean> {
  try {
    const entries = await Promise.all(jwks.map(parse))
    if (confusions(entries).length > 0) return false
    const find = (kid: string | undefined) => entries[jwks.findIndex((jwk) => jwk.kid === kid)]?.key
    const compact = parseCompactForm(jws, 65_536)
    const key = compact && chooseKey(compact.header, { find })
    return key !== undefined && (await isSignedBy(jws, key))
  } catch (error) {
    if (error instanceof WeakKey) return false
    throw error
  }
}

/** As the file that an operator would have made of it; not every name here can be a file's. */
function parse({ kid = 'nameless', ...jwk }: Jwk) {
  const name = `${kid.replace(/[^\w.-]/g, '-')}.jwk`
  return parseKeyFile({ name, text: JSON.stringify(jwk) }, () => undefined)
}

/**
 * The vectors call 367 and 370 invalid for their padding, but hold no padding: both are the same
 * text, character for character, as the valid vector 357. No verifier can tell them apart.
 */
function contradictsItself(jws: string, group: Group): boolean {
  return group.tests.some((other) => other.jws === jws && other.result === 'valid')
}

/** Valid by Wycheproof, refused by us: an empty payload, and characters that base64url has not. */
const stricter = new Set([259, 372, 373])

/** The algorithms that Postern offers; vectors of others may only be refused. */
const offered = new Set(['HS256', 'RS256', 'ES256', 'EdDSA'])

describe.each(['json_web_signature_test', 'json_web_crypto_test', 'json_web_key_test'])(
  'Wycheproof %s',
  (file) => {
    const text = corpusText(`wycheproof/${file}.json`)
    const groups: readonly Group[] = text === undefined ? [] : JSON.parse(text).testGroups
    const vectors = groups.flatMap((group) =>
      group.tests.flatMap(({ jws, ...rest }) =>
        jws === undefined ? [] : [{ ...rest, jws, group }],
      ),
    )

    test(`accepts no invalid vector (${vectors.filter((one) => one.result === 'invalid').length})`, async () => {
      const accepted: number[] = []
      for (const { result, tcId, jws, group } of vectors) {
        if (result !== 'invalid' || contradictsItself(jws, group)) continue
        if (await accepts(jwksOf(group), jws)) accepted.push(tcId)
      }

      expect(accepted).toEqual([])
    })

    test('accepts the valid vectors of the algorithms that are offered', async () => {
      const refused: string[] = []
      for (const { result, tcId, jws, group } of vectors) {
        const jwks = jwksOf(group)
        const ours = jwks.every((jwk) => offered.has(String(jwk.alg)) && jwk.key_ops === undefined)
        if (stricter.has(tcId)) continue
        if (result === 'valid' && ours && !(await accepts(jwks, jws)))
          refused.push(`${tcId} ${group.comment}`)
      }

      expect(refused).toEqual([])
    })
  },
)
