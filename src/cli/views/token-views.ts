import type { DocumentOf } from '../../operations/operation.ts'
import type { tokenInspect } from '../../operations/tokens/descriptions.ts'
import { formatTable } from '../format.ts'
import type { ViewOf } from '../view.ts'

export const tokenInspectView: ViewOf<typeof tokenInspect> = {
  text({ document }) {
    const { verdict, reason, key, header } = document
    const signed = key
      ? `${key.alg}, ${key.kid ?? 'no kid'}`
      : `not verified (alg ${shownAlgorithm((header as { readonly alg?: unknown }).alg)})`
    return formatTable([
      ['verdict', reason === undefined ? verdict : `${verdict}: ${reason}`],
      ['key', signed],
      ...about(document),
    ])
  },
}

/** A header may hold anything there, also an object that cannot become a text. */
function shownAlgorithm(algorithm: unknown): string {
  return typeof algorithm === 'string' ? algorithm : (JSON.stringify(algorithm) ?? 'missing')
}

function about({ caller, issuer, ...token }: DocumentOf<typeof tokenInspect>): readonly string[][] {
  if (caller === undefined) return []
  const { kind = '', id = '', issuedAt = '', expiresAt = '' } = token
  return [
    ['user', `${caller.userId} ${caller.username}`],
    ['role', `${caller.roleId} ${caller.roleKey}`],
    ['data scope', caller.dataScope],
    ['kind', issuer === undefined ? kind : `${kind} ${issuer}`],
    ['issued', issuedAt],
    ['expires', expiresAt],
    ['id', id],
  ]
}
