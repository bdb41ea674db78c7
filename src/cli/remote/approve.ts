import { Invalid } from '../../kernel/errors.ts'
import { decline } from '../../operations/declined.ts'
import { errorOf } from '../../operations/failure.ts'
import { compareAccess } from '../../operations/policy/compare-access.ts'
import { admissionWithoutRoutes, policySettings } from '../../operations/policy-settings.ts'
import { openSigner } from '../../operations/publish/author.ts'
import { checkAgain } from '../../operations/publish/check-again.ts'
import { comparedNote, nothingBefore } from '../../operations/publish/open-proposal.ts'
import { staleReason } from '../../operations/publish/proposal-state.ts'
import { checkRevision } from '../../operations/publish/publishing.ts'
import { compareWith, type Remark } from '../../operations/publish/review.ts'
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
import { type Command, print, UsageError } from '../command.ts'
import { isConfirmed } from '../confirm.ts'
import type { Io } from '../io.ts'
import { contextOf } from '../operation-context.ts'
import { confirmSigning } from '../publish/asking.ts'
import { remarksInWords } from '../publish/remark-in-words.ts'
import { askConsole, changeMs, notAConsole, questionMs, unreadable } from './api-session.ts'
import type { Typed } from './choose-call.ts'
import type { Gateway } from './gateway.ts'

/**
 * Signs a proposal on this machine, where the private key stays. The console may be wrong or someone
 * else's: what the person reads comes from the statement to sign, from files whose revision this
 * machine computes itself, and from signatures that it verifies with its own `policy.trust`.
 */
export async function approveRemotely(
  { operation }: Command,
  typed: Typed,
  gateway: Gateway,
  io: Io,
): Promise<number> {
  const { key, yes, config, ...checks } = optionsOf(typed)
  const name = String(typed.given['revision'])
  checkRevision(name)
  const settings = policySettings(config, io)
  const trust =
    settings.trust() ??
    decline(
      'refused: without policy.trust, this machine cannot verify what the console says: name the configuration of a gateway with --config FILE',
    )
  const context = contextOf(config, io)
  const tell = (remark: Remark) => io.err(remarksInWords([remark]))
  const signer = await openSigner(key, trust, { context, tell })
  const ask = async (path: string, revision: string) => {
    const query = new URLSearchParams({ revision })
    const sent = { method: 'GET', path: `${path}?${query}`, timeoutMs: questionMs } as const
    const { answer, failure } = await askConsole(gateway, sent, io)
    if (failure !== undefined) throw errorOf(failure)
    return (answer?.document ?? {}) as Partial<Record<string, unknown>>
  }

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
      note: `note: this machine does not know the routes: "postern policy diff live ${statement.revision} --gateway ${gateway.origin}" shows what they change, as the console says`,
    })
  }
  await checkAgain(set, checks, { settings, context, tell })
  const words = confirmSigning({ revision: statement.revision, signer: signer.name, diff })
  if (!yes && !(await isConfirmed(words.question, words.unasked, io))) decline(words.declined)

  const signature = unarmored(await signer.sign(proposal.statement))
  const body = { revision: statement.revision, signature }
  const sent = { method: 'POST', path: 'policy/approve', body, timeoutMs: changeMs } as const
  // The review of the console says again what was read above.
  const { answer, failure } = await askConsole(gateway, sent, io)
  if (failure !== undefined) throw errorOf(failure)
  if (answer === undefined || operation === undefined) throw notAConsole(gateway)
  const { code, err } = await operation.answer({ ...body, key }, typed.output, {
    ...{ context, terminal: io },
    source: { load: async () => ({ run: async () => answer }), unreadable: unreadable(gateway) },
  })
  return print({ code, out: '', err }, io)
}

function optionsOf({ given }: Typed) {
  for (const name of ['base', 'signature']) {
    if (given[name] !== undefined) {
      throw new UsageError(`--${name} does not work with --gateway and --key`)
    }
  }
  const text = (name: string) => (given[name] === undefined ? undefined : String(given[name]))
  return {
    ...{ key: String(given['key']), config: text('config'), replay: text('replay') },
    yes: given['yes'] === true,
    'allow-failed-tests': given['allow-failed-tests'] === true,
  } as const
}

/** The proposal that a console describes, as far as it can be true: who has signed is verified here. */
function readReviewed(
  told: Partial<Record<string, unknown>>,
  name: string,
  trust: Trust,
): ReviewedProposal | undefined {
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
function readSet({ files }: Partial<Record<string, unknown>>, revision: string): PolicySet {
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
