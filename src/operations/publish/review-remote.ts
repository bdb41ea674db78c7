import { Invalid } from '../../kernel/errors.ts'
import { type PolicyFile, type PolicySet, parsePolicySet } from '../../policy/set/policy-set.ts'
import { unarmored } from '../../signing/ssh-signature.ts'
import { maxSignatures, parseStatement, readSigned } from '../../signing/statement.ts'
import { findAmong, type Trust } from '../../signing/trust.ts'
import { isFarAhead } from '../../stores/policies/proposals/live-state.ts'
import { readProposal, signatureField } from '../../stores/policies/proposals/proposal.ts'
import {
  type ReviewedProposal,
  reviewProposal,
} from '../../stores/policies/proposals/review-proposal.ts'
import type { Context } from '../context.ts'
import { decline } from '../declined.ts'
import type { InputOf } from '../operation.ts'
import { compareAccess } from '../policy/compare-access.ts'
import { admissionWithoutRoutes, policySettings } from '../policy-settings.ts'
import { openSigner } from './author.ts'
import { checkAgain } from './check-again.ts'
import type { policyApprove } from './descriptions.ts'
import { comparedNote, nothingBefore } from './open-proposal.ts'
import { staleReason } from './proposal-state.ts'
import { checkRevision } from './publishing.ts'
import { compareWith, type Tell } from './review.ts'

/** What a console answered. */
export type ApiAnswer = Partial<Record<string, unknown>>

interface Remote {
  readonly context: Context
  readonly tell: Tell
  /** Asks the console a question about a revision. */
  readonly ask: (path: string, revision: string) => Promise<ApiAnswer>
  /** How it is called in messages. */
  readonly origin: string
}

type Input = Pick<InputOf<typeof policyApprove.input>, 'replay' | 'allow-failed-tests'> &
  Readonly<Record<'revision' | 'key', string>>

/**
 * Reviews a proposal on this machine, where the private key stays. The console may be wrong or someone
 * else's: what the person reads comes from the statement to sign, from files whose revision this
 * machine computes itself, and from signatures that it verifies with its own `policy.trust`.
 */
export async function reviewRemote(
  { revision: name, key, ...checks }: Input,
  { context, tell, ask, origin }: Remote,
) {
  checkRevision(name)
  const settings = policySettings(context.configFile, context)
  const trust =
    settings.trust() ??
    decline(
      'refused: without policy.trust, this machine cannot verify what the console says: name the configuration of a gateway with --config FILE',
    )
  const signer = await openSigner(key, trust, { context, tell })
  const told = await ask('policy/proposals', name)
  const reviewed = readReviewed(told, name, trust) ?? decline(misleading('a valid statement'))
  const { statement, state, proposal } = reviewed
  tell({ proposal: reviewed })
  if (told['needed'] === 0) {
    return decline('refused: policy.trust is not set there, so no signature counts')
  }
  if (state === 'stale') return decline(`refused: ${staleReason(reviewed)}`)
  const { after } = statement
  const base = after === null ? undefined : findAmong([readSigned(told['base'])], trust)(after)
  if (after !== null && base === undefined) {
    return decline(misleading(`signatures that make ${after.revision} the predecessor`))
  }
  const filesOf = async (revision: string) => readSet(await ask('policy/files', revision), revision)
  const before = after === null ? undefined : await filesOf(after.revision)
  const set = await filesOf(statement.revision)
  const hasRoutes = (settings.config?.routes.length ?? 0) > 0
  const admission = hasRoutes ? settings.admission().admission : admissionWithoutRoutes()
  tell({ note: comparedNote(base === undefined ? {} : { base }, reviewed) })
  const compare = (from: PolicySet, to: PolicySet) =>
    compareAccess({ from, to }, admission, context)
  const diff = compareWith(before ?? nothingBefore(set), set, { compare, tell })
  if (!hasRoutes) {
    tell({
      note: `note: this machine does not know the routes: "postern policy diff live ${statement.revision} --gateway ${origin}" shows what they change, as the console says`,
    })
  }
  await checkAgain(set, checks, { settings, context, tell })
  return {
    ...{ revision: statement.revision, signer: signer.name, diff },
    sign: async () => unarmored(await signer.sign(proposal.statement)),
  }
}

/** The proposal that a console describes, as far as it can be true: who has signed is verified here. */
function readReviewed(told: ApiAnswer, name: string, trust: Trust): ReviewedProposal | undefined {
  const { revision, kind, over, evidence, state, signatures } = told
  const signed = Array.isArray(signatures) ? signatures.slice(0, maxSignatures) : []
  const fields = Object.fromEntries(signed.map((each, at) => [signatureField(`${at}`), `${each}`]))
  const about = JSON.stringify({ kind, over, evidence })
  const statement = String(told['statement'])
  const proposal = readProposal(String(revision), { ...fields, statement, about })
  if (proposal === undefined || !proposal.revision.startsWith(name)) return undefined
  if (state !== 'open' && state !== 'approved' && state !== 'stale') return undefined
  // That it follows the live policy is the word of the console; gateways refuse what does not.
  const { after = null } = parseStatement(statement) ?? {}
  const live = {
    ...{ head: undefined, revision: undefined, isSigned: false, find: () => undefined },
    ...{ after, isAfterKnown: true },
  }
  const reviewed = reviewProposal(proposal, { live, trust, now: Date.now() })
  // A predecessor of the far future must not make room for such a statement.
  if (reviewed === undefined || isFarAhead(reviewed.statement.serial, Date.now())) return undefined
  return state === 'stale' ? { ...reviewed, state } : reviewed
}

/** The policy that a console sent. Declines files that are not those of the revision. */
function readSet({ files }: ApiAnswer, revision: string): PolicySet {
  const set = Array.isArray(files) && files.every(isFile) ? parsed(files) : undefined
  return set?.revision === revision ? set : decline(misleading(`the files of ${revision}`))
}

function isFile(value: unknown): value is PolicyFile {
  const { name, text } = (value ?? {}) as Partial<Record<string, unknown>>
  return typeof name === 'string' && typeof text === 'string'
}

function parsed(files: readonly PolicyFile[]): PolicySet | undefined {
  try {
    return parsePolicySet(files)
  } catch (error) {
    if (error instanceof Invalid) return undefined
    throw error
  }
}

function misleading(what: string): string {
  return `refused: the console did not answer with ${what}: nothing was signed`
}
