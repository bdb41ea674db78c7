import { Invalid } from '../../errors.ts'
import { type PolicyFile, type PolicySet, parsePolicySet } from '../../policy/set/policy-set.ts'
import { unarmored } from '../../signing/ssh-signature.ts'
import { parseStatement } from '../../signing/statement.ts'
import { isFarAhead } from '../../stores/policies/proposals/live-state.ts'
import { readProposal } from '../../stores/policies/proposals/proposal.ts'
import type { ReviewedProposal } from '../../stores/policies/proposals/review-proposal.ts'
import { confirmSigning } from '../approval/approve.ts'
import { checkRevision } from '../approval/open-proposal.ts'
import { formatProposal, staleReason } from '../approval/proposal-in-words.ts'
import { UsageError } from '../command.ts'
import { decline } from '../declined.ts'
import { exitCodes } from '../exit-codes.ts'
import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import { compareWithLive } from '../publish/live.ts'
import { openSigner } from '../publish/signing.ts'
import { admissionWithoutRoutes } from '../settings.ts'
import { askConsole, changeMs, questionMs } from './ask-console.ts'
import type { Typed } from './choose.ts'
import type { Gateway } from './gateway.ts'
import { type Printed, parseJson } from './printed.ts'

/**
 * Signs a proposal on this machine, where the private key stays. The console may be wrong or someone
 * else's: what the person reads comes from the statement to sign, and from files whose revision this
 * machine computes itself.
 */
export async function approveRemotely(typed: Typed, gateway: Gateway, io: Io): Promise<number> {
  const { key, yes, output } = optionsOf(typed)
  const [name = ''] = typed.arguments
  checkRevision(name)
  const signer = await openSigner(key, undefined, io)
  const ask = (operation: string, revision: string) => {
    const query = new URLSearchParams({ revision, output: 'json' })
    const path = `${operation}?${query}`
    return askConsole(gateway, { method: 'GET', path, timeoutMs: questionMs }, io)
  }

  const found = await ask('policy/proposals', name)
  if (found.code !== exitCodes.done) return passOn(found, io)
  const reviewed = readReviewed(found.out, name) ?? decline(misleading('a valid statement'))
  const { statement, state, needed, proposal } = reviewed
  io.err(formatProposal(reviewed))
  if (needed === 0) return decline('refused: policy.trust is not set there, so no signature counts')
  if (state === 'stale') return decline(`refused: ${staleReason(reviewed)}`)
  const filesOf = async (revision: string) => readSet(await ask('policy/files', revision), revision)
  const before = statement.after === null ? undefined : await filesOf(statement.after.revision)
  const set = await filesOf(statement.revision)
  const admission = admissionWithoutRoutes()
  compareWithLive({ set, admission }, before ?? 'nothing was signed before', io)
  io.err(
    printable(
      `note: this machine does not know the routes: "postern policy diff live ${statement.revision} --gateway ${gateway.origin}" shows what they change`,
    ).concat('\n'),
  )
  if (!yes && !(await confirmSigning(statement.revision, signer.name, io))) {
    return decline('not signed')
  }

  const signature = unarmored(await signer.sign(proposal.statement))
  const body = { revision: statement.revision, signature, output }
  const sent = { method: 'POST', path: 'policy/approve', body, timeoutMs: changeMs } as const
  const done = await askConsole(gateway, sent, io)
  if (done.code !== exitCodes.done) return passOn(done, io)
  // The review of the console says again what was read above.
  io.out(done.out)
  return done.code
}

function optionsOf({ options }: Typed) {
  for (const name of ['config', 'signature']) {
    if (options.has(name)) throw new UsageError(`--${name} does not work with --gateway and --key`)
  }
  const output = options.get('output') === 'json' ? 'json' : 'text'
  return { key: String(options.get('key')), yes: options.has('yes'), output }
}

function passOn({ code, out, err }: Printed, io: Io): number {
  io.out(out)
  io.err(err)
  return code
}

/** The proposal that a console describes, as far as it can be true. Who has signed is its word. */
function readReviewed(text: string, name: string): ReviewedProposal | undefined {
  const told = (parseJson(text) ?? {}) as Partial<Record<string, unknown>>
  const { revision, kind, over, evidence, state, signers, needed, otherSignatures } = told
  const about = JSON.stringify({ kind, over, evidence })
  const proposal = readProposal(String(revision), { statement: String(told['statement']), about })
  const statement = parseStatement(proposal?.statement ?? '')
  if (proposal === undefined || statement?.purpose !== 'live') return undefined
  if (statement.revision !== revision || !statement.revision.startsWith(name)) return undefined
  // Such a statement would exclude every later one.
  if (isFarAhead(statement.serial, Date.now())) return undefined
  if ((statement.after?.serial ?? 0) >= statement.serial) return undefined
  if (state !== 'open' && state !== 'approved' && state !== 'stale') return undefined
  if (!Array.isArray(signers) || typeof needed !== 'number') return undefined
  return {
    ...{ proposal, statement, state, needed, signatures: [], signers: signers.map(String) },
    otherSignatures: typeof otherSignatures === 'number' ? otherSignatures : 0,
  }
}

/** The policy that a console sent. Declines files that are not those of the revision. */
function readSet({ code, out, err }: Printed, revision: string): PolicySet {
  if (code !== exitCodes.done) return decline(err.trim().replace(/^postern: /, ''))
  const { files } = (parseJson(out) ?? {}) as { readonly files?: unknown }
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
