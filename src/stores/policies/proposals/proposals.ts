import { readHash, readMembers } from '../../redis/bounded-reads.ts'
import { loadScript, type RedisClient } from '../../redis/redis.ts'
import {
  formatDocument,
  isRevision,
  type PolicyDocument,
  parseDocument,
} from '../document/policy-document.ts'
import { readStoredText } from '../document/stored-text.ts'
import { type Proposal, proposalBounds, readProposal, signatureField } from './proposal.ts'

export type { Proposal, ProposalAbout, ProposalEvidence } from './proposal.ts'

const proposeScript = loadScript(new URL('./lua/propose.lua', import.meta.url))
const signScript = loadScript(new URL('./lua/sign.lua', import.meta.url))

/** Long enough for holidays; what has been open for longer compares with a policy of the past. */
const OPEN_MS = 30 * 24 * 60 * 60 * 1000
/** More than people review, and few enough to list. */
const MAX_OPEN = 100
/** Of `r-` and 64 digits, which none exceeds. */
const maxRevision = 66

/** A signature, and the fingerprint of its key. */
interface KeyedSignature {
  readonly fingerprint: string
  readonly signature: string
}

interface ProposeParts {
  readonly document: PolicyDocument
  /** The statement of the proposal that it replaces, if one exists. */
  readonly replaces: string | undefined
}

/** The proposals in one Redis. A client with write access can alter them: verify what you read. */
export function createProposals(redis: RedisClient) {
  const base = `${redis.prefix}policy:proposal`
  const index = `${base}s`
  const keyOf = (revision: string) => `${base}:${revision}`
  const documentKey = (revision: string) => `${base}:${revision}:document`

  /** `undefined` when it is missing or invalid. */
  async function read(revision: string): Promise<Proposal | undefined> {
    return readProposal(revision, await readHash(redis, keyOf(revision), proposalBounds))
  }

  /** The open proposals that can be read, newest first. */
  async function list(): Promise<readonly Proposal[]> {
    const last = { from: -MAX_OPEN, to: -1, maxBytes: maxRevision }
    const revisions = (await readMembers(redis, index, last)).map(([revision]) => revision)
    const found = await Promise.all(revisions.filter(isRevision).toReversed().map(read))
    return found.filter((each) => each !== undefined)
  }

  return {
    read,
    list,
    /** `changed`: another proposal of this revision exists. `full`: too many proposals are open. */
    async propose(
      { revision, statement, about, signatures }: Proposal,
      { document, replaces = '' }: ProposeParts,
    ) {
      const keys = [keyOf(revision), documentKey(revision), index]
      const fields = [...signatures].flatMap(([fingerprint, signature]) => {
        return [signatureField(fingerprint), signature]
      })
      const values = [
        ...[replaces, revision, statement, JSON.stringify(about), formatDocument(document)],
        ...[OPEN_MS, MAX_OPEN, ...fields],
      ]
      return (await redis.runBulk((commands) =>
        commands.eval(proposeScript, keys.length, ...keys, ...values),
      )) as 'done' | 'changed' | 'full'
    },
    /** The document of a proposal, verified by its checksum. A broken one is a Fault. */
    async document(revision: string) {
      const text = await readStoredText(redis, documentKey(revision))
      return text === undefined ? undefined : parseDocument(text, revision)
    },
    /** Adds a signature over this very statement, or replaces that of its key. */
    async sign({ revision, statement }: Proposal, { fingerprint, signature }: KeyedSignature) {
      const values = [statement, signatureField(fingerprint), signature]
      const answer = await redis.run((commands) =>
        commands.eval(signScript, 1, keyOf(revision), ...values),
      )
      return answer as 'done' | 'missing' | 'changed'
    },
    /** The proposal with this revision, else all whose revision starts like this. */
    async matching(name: string): Promise<readonly Proposal[]> {
      const exact = await read(name)
      if (exact !== undefined) return [exact]
      return (await list()).filter(({ revision }) => revision.startsWith(name))
    },
    /** Returns whether it existed. */
    async drop(revision: string) {
      const keys = [keyOf(revision), documentKey(revision)]
      await redis.run((commands) => commands.zrem(index, revision))
      return (await redis.run((commands) => commands.del(...keys))) > 0
    },
  }
}
