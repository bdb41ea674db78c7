import { Fault } from '../../../errors.ts'
import { hasStrings, readJson } from '../../json-text.ts'
import { isRevision } from './policy-document.ts'

/** The active revision, and the sequence of the move that made it active. */
export interface Head {
  readonly revision: string
  /** Grows with every move, also across a flushed Redis: it is never below the time in ms. */
  readonly sequence: number
}

/** One entry of the history: who moved the head, to what, and why. */
export interface Move extends Head {
  readonly author: string
  readonly message: string
  readonly at: string
  readonly kind: 'push' | 'rollback' | 'import'
}

/** The prefix has a hash tag, so one script can use all of these keys on a Redis Cluster. */
export function policyKeys(prefix: string) {
  return {
    head: `${prefix}policy:head`,
    history: `${prefix}policy:history`,
    /** The highest sequence that any replica reported. */
    highest: `${prefix}policy:highest`,
    channel: `${prefix}policy`,
    document: (revision: string) => `${prefix}policy:rev:${revision}`,
    /** Which replicas have reported in the last day, by the time of their last report. */
    knownReplicas: `${prefix}replicas:known`,
    /** What each of them said last, by id. */
    replicaReports: `${prefix}replicas:reports`,
    /** The same for those of the last ten seconds, as version 0.1.0 writes and reads them. */
    replicas: `${prefix}replicas`,
    replica: (id: string) => `${prefix}replica:${id}`,
  } as const
}

/** Parses the value of `policy:head`. Throws a Fault that says how to fix an invalid one. */
export function parseHead(text: string, key: string): Head {
  const value = readJson(text)
  if (!isHead(value)) {
    const reason = `${key} is not a valid policy head: delete that key and push the policy again`
    throw new Fault('redis', { reason })
  }
  return { revision: value.revision, sequence: value.sequence }
}

/** Parses an entry of the history; `undefined` when it is invalid. */
export function parseMove(text: string): Move | undefined {
  const value = readJson(text)
  return isHead(value) && isSigned(value) ? value : undefined
}

function isHead(value: unknown): value is Head {
  if (!hasStrings(value, ['revision'])) return false
  const { revision, sequence } = value
  return isRevision(revision) && Number.isSafeInteger(sequence) && Number(sequence) > 0
}

function isSigned(value: Head): value is Move {
  return hasStrings(value, ['author', 'message', 'at', 'kind'])
}
