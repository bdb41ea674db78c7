import { type FaultPart, Refusal, type RefusalKind } from '../kernel/errors.ts'
import { faults, type RefusalForm, refusals } from '../kernel/refusals.ts'
import type { MessageKind } from '../messages/texts.ts'

/** What a client sees of a refusal or a fault, besides the text. */
export interface Envelope {
  readonly status: number
  readonly code: number
  readonly message: MessageKind
  /** Specification, Errors: the body has exactly `code` and `msg`. Others have the request ID too. */
  readonly isBare: boolean
  /** The WWW-Authenticate header: a real 401 must have one (RFC 9110 15.5.2). */
  readonly challenge?: string
}

export type RefusalEnvelopes = Readonly<Record<RefusalKind, Envelope>>

interface RefusalSettings {
  readonly status: 'envelope' | 'real'
  /** 401 in the specification; with 403, existing front ends do not log the user out. */
  readonly notPermittedCode: number
}

/** The response to each refusal. Only this file knows that most are HTTP 200 unless `status` is real. */
export function refusalEnvelopes(settings: RefusalSettings): RefusalEnvelopes {
  const forms = { ...refusals, 'not-permitted': { code: settings.notPermittedCode } }
  return mapForms<RefusalKind, RefusalForm>(forms, (message, form) => {
    if ('status' in form) return inStatus(form.status, message)
    const envelope = { status: 200, code: form.code, message, isBare: true }
    return settings.status === 'real'
      ? { ...envelope, ...realStatus(message, form.code) }
      : envelope
  })
}

/**
 * The body is the same, and so is `code`. Failed logins are 400, as in RFC 6749 5.2: a 401 would have to
 * name a challenge, which a login form cannot answer, and front ends take it for an expired session.
 */
function realStatus(kind: RefusalKind, code: number): Pick<Envelope, 'status' | 'challenge'> {
  const challenge = challenges[kind]
  if (challenge !== undefined) return { status: 401, challenge }
  return { status: code === 401 ? 403 : code }
}

const realm = 'Bearer realm="postern"'
const invalidToken = (description: string) =>
  `${realm}, error="invalid_token", error_description="${description}"`

/** RFC 6750 3.1: a request without a token gets no error code. Each text is for programs, in English. */
const challenges: Readonly<Partial<Record<RefusalKind, string>>> = {
  'token-missing': realm,
  'token-invalid': invalidToken('The access token is invalid'),
  'token-expired': invalidToken('The access token expired'),
  'token-too-long-lived': invalidToken('The lifetime of the access token is too long'),
  'token-revoked': invalidToken('The access token is revoked'),
}

/** RFC 7617: programs such as git send a name and a password only after this. */
export const basicChallenge = ['WWW-Authenticate', 'Basic realm="postern", charset="UTF-8"']

/** Whether another token may cure the refusal. */
export const isAboutToken = (error: unknown) =>
  error instanceof Refusal && Object.hasOwn(challenges, error.kind)

/**
 * Forward-auth proxies read the status, not `code`: 401 without a login, 403 without permission.
 */
export const statusEnvelopes: RefusalEnvelopes = {
  ...mapForms<RefusalKind, RefusalForm>(refusals, (message, form) =>
    inStatus('code' in form ? form.code : form.status, message),
  ),
  // Logging in again would not change which site made the request.
  'cross-site-cookie': inStatus(403, 'cross-site'),
}

export const faultEnvelopes = mapForms<FaultPart, number>(faults, (message, status) =>
  inStatus(status, message),
)

/** For our own bugs. */
export const bugEnvelope: Envelope = inStatus(500, 'bug')

function inStatus(status: number, message: MessageKind): Envelope {
  const envelope = { status, code: status, message, isBare: false }
  return status === 401 ? { ...envelope, challenge: 'Bearer' } : envelope
}

function mapForms<Kind extends MessageKind, Value>(
  forms: Readonly<Record<Kind, Value>>,
  map: (kind: Kind, value: Value) => Envelope,
): Readonly<Record<Kind, Envelope>> {
  const kinds = Object.keys(forms) as Kind[]
  return Object.fromEntries(kinds.map((kind) => [kind, map(kind, forms[kind])])) as Record<
    Kind,
    Envelope
  >
}
