import { isControlHeader } from '../../kernel/control-headers.ts'
import {
  droppedHeaders,
  foldName,
  isReservedFamily,
  metadataName,
} from '../../kernel/reserved-headers.ts'
import { rememberNames } from '../../wire/remembered-names.ts'

/** How a request header is handled, by its name. */
export type Treatment =
  | 'pass'
  | 'drop'
  | 'forged'
  | 'control'
  | 'host'
  | 'authorization'
  | 'cookie'
  | 'connection'
  | 'content-length'
  | 'transfer-encoding'
  | 'expect'
  | 'te'
  | 'referer'
  | 'origin'
  | 'fetch-site'
  | 'user-agent'
  | 'content-type'
  | 'forwarded-for'
  | 'forwarded-proto'
  | 'forwarded-host'
  | 'request-id'
  | 'destination'

/**
 * Names that only Postern may set are dropped. A name is forged if it is none of them, but a service may
 * read it as one.
 */
export function createTreatments(
  injectedNames: readonly string[],
  requestIdName: string,
): (name: string) => Treatment {
  const treatments = new Map(fixedTreatments)
  const identity = new Set<string>()
  for (const name of injectedNames.map((each) => each.toLowerCase())) {
    treatments.set(foldName(name), 'forged').set(name, 'drop')
    if (name !== requestIdName.toLowerCase()) identity.add(foldName(name))
  }
  treatments.set(requestIdName.toLowerCase(), 'request-id')

  return rememberNames((name) => {
    const lower = name.toLowerCase()
    const exact = treatments.get(lower)
    if (exact !== undefined) return exact

    const folded = foldName(lower)
    if (identity.has(metadataName(folded))) return 'forged'
    const treatment = treatments.get(folded) ?? familyTreatment(folded)
    // CGI, WSGI and PHP fold X_User_Id and X-User-Id into one variable (CVE-2025-64484).
    return folded !== lower && treatment !== 'pass' ? 'forged' : treatment
  })
}

function familyTreatment(folded: string): Treatment {
  if (isControlHeader(folded)) return 'control'
  return isReservedFamily(folded) ? 'drop' : 'pass'
}

const fixedTreatments: ReadonlyMap<string, Treatment> = new Map<string, Treatment>([
  ['host', 'host'],
  ['authorization', 'authorization'],
  ['cookie', 'cookie'],
  ['connection', 'connection'],
  ['content-length', 'content-length'],
  ['transfer-encoding', 'transfer-encoding'],
  ['expect', 'expect'],
  ['te', 'te'],
  ['referer', 'referer'],
  ['origin', 'origin'],
  ['sec-fetch-site', 'fetch-site'],
  ['user-agent', 'user-agent'],
  ['destination', 'destination'],
  ['content-type', 'content-type'],
  ['x-forwarded-for', 'forwarded-for'],
  ['x-forwarded-proto', 'forwarded-proto'],
  ['x-forwarded-host', 'forwarded-host'],
  ...droppedHeaders.map((name): [string, Treatment] => [name, 'drop']),
])
