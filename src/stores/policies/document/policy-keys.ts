import { Fault } from '../../../kernel/errors.ts'
import { hasStrings, isRecord, readJson } from '../../../kernel/json.ts'
import { readSigned, type Signed } from '../../../signing/statement.ts'
import { isSequence } from '../../latest-time.ts'
import { isRevision } from './policy-document.ts'

/** The active revision, and the sequence of the move that made it active. */
export interface Head {
  readonly revision: string
  /** Grows with every move, also across a flushed Redis: it is never below the time in ms. */
  readonly sequence: number
  /** Who moved the head here, as they say; version 0.1.0 does not record it. */
  readonly author?: string
  readonly signed?: Signed
}

/** One entry of the history: who moved the head, to what, and why. */
export interface Move extends Head {
  /** Random, so that a publisher recognizes its own move; version 0.1.0 has none. */
  readonly id?: string
  readonly author: string
  readonly message: string
  /** By the clock of Redis; by that of the publisher in entries of version 0.1.0. */
  readonly at: string
  readonly kind: MoveKind
  /** The host of the publisher, as it says; unknown for moves of older versions. */
  readonly origin?: string
  /** Who published the proposal of the author, as they say. Unset: the author did, or it is unknown. */
  readonly publisher?: string
  /** What spoke for this move, such as the result of a shadow. */
  readonly evidence?: Evidence
}

export type MoveKind = 'push' | 'rollback' | 'import' | 'promote'
export type Evidence = Readonly<Record<string, unknown>>

/** The prefix has a hash tag, so one script can use all of these keys on a Redis Cluster. */
export function policyKeys(prefix: string) {
  return {
    head: `${prefix}policy:head`,
    history: `${prefix}policy:history`,
    /** The highest sequence that any replica reported. */
    highest: `${prefix}policy:highest`,
    channel: `${prefix}policy`,
    document: (revision: string) => `${prefix}policy:rev:${revision}`,
    /** The policy that gateways evaluate beside the live one, if any. */
    shadow: `${prefix}policy:shadow`,
    /** When each replica last reported about it, and what, by id. */
    shadowReplicas: `${prefix}policy:shadow:replicas`,
    shadowReports: `${prefix}policy:shadow:reports`,
    /** Exists while a console watches decisions; `decisions` is the channel that they are sent on. */
    decisionWatch: `${prefix}decisions:watch`,
    decisions: `${prefix}decisions`,
    /** Which replicas have reported within `policy.replicaMemory`, by the time of their last report. */
    knownReplicas: `${prefix}replicas:known`,
    /** What each of them said last, by id. */
    replicaReports: `${prefix}replicas:reports`,
    /** Replicas of the last ten seconds, as version 0.1.0 writes and reads them. */
    replicas: `${prefix}replicas`,
    replica: (id: string) => `${prefix}replica:${id}`,
  } as const
}

/** A statement and its signatures, each character written as an escape of six. */
export const maxHead = 512 * 1024
/** A signed statement, its signatures and evidence; more than that is nothing a publisher wrote. */
export const maxMove = 128 * 1024
/** A log line has the author. */
const maxAuthor = 256

/** Parses the value of `policy:head`. Throws a Fault that says how to fix an invalid one. */
export function parseHead(text: string, key: string): Head {
  const value = text.length > maxHead ? undefined : readJson(text)
  if (!isHead(value)) {
    const reason = `${key} is not a valid policy head: delete that key and push the policy again`
    throw new Fault('redis', { reason })
  }
  const { revision, sequence } = value
  const author = typeof value.author === 'string' ? value.author.slice(0, maxAuthor) : undefined
  return { revision, sequence, ...(author !== undefined && { author }), ...signedIn(value) }
}

/** Parses an entry of the history; `undefined` when it is invalid. */
export function parseMove(text: string): Move | undefined {
  const value = readJson(text)
  if (!isHead(value) || !isMove(value)) return undefined
  const { revision, sequence, author, message, at, kind, id, origin, publisher, evidence } = value
  return {
    ...{ revision, sequence, author, message, at, kind },
    ...(typeof id === 'string' && { id }),
    ...(typeof origin === 'string' && { origin }),
    ...(typeof publisher === 'string' && { publisher }),
    ...signedIn(value),
    ...(isRecord(evidence) && { evidence }),
  }
}

function signedIn({ signed }: Head): { readonly signed?: Signed } {
  const read = readSigned(signed)
  return read === undefined ? {} : { signed: read }
}

function isHead(value: unknown): value is Head {
  if (!hasStrings(value, ['revision'])) return false
  const { revision, sequence } = value
  return isRevision(revision) && isSequence(sequence)
}

function isMove(value: Head): value is Move {
  return hasStrings(value, ['author', 'message', 'at', 'kind'])
}
