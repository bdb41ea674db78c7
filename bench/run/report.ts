import type { Bystanders } from './bystanders.ts'
import type { Machine } from './machine.ts'
import type { Peer } from './peer.ts'
import type { Cell, Pairs } from './results.ts'
import type { Verdict } from './targets.ts'

/** Why something was not measured. */
export interface Failure {
  readonly peer: string
  readonly workload?: string
  readonly round?: number
  readonly why: string
}

/** A whole run, as it is written to bench/result.json. */
export interface Report {
  readonly benchmark: 'gateways'
  readonly date: string
  readonly quick: boolean
  readonly rounds: number
  readonly seconds: number
  readonly machine: Machine
  readonly upstream: string
  readonly load: string
  readonly peers: readonly ReportedPeer[]
  /** Absent in reports of before it was looked at. */
  readonly bystanders?: Bystanders
  readonly targets: readonly Verdict[]
  readonly cells: readonly Cell[]
  /** CPU microseconds per request of both sides of a target. Absent in reports of before. */
  readonly pairs?: Pairs
  readonly leftOut: readonly Failure[]
}

export interface ReportedPeer extends Pick<Peer, 'name' | 'title' | 'kind'> {
  readonly rules?: number
  readonly version: string
}

export function reportedPeer({ name, title, kind, rules, version }: Peer): ReportedPeer {
  return { name, title, kind, ...(rules !== undefined && { rules }), version: version() }
}

/** How a peer is called in tables: with the number of rules it decides by. */
export function fullTitle({ title, rules }: Pick<ReportedPeer, 'title' | 'rules'>): string {
  return rules === undefined ? title : `${title}, ${grouped(rules)} rules`
}

/** A number with its thousands set apart. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en')
}

/** A figure with as many digits as it deserves. */
export function figureText(value: number | undefined): string {
  if (value === undefined) return '–'
  if (value >= 100) return grouped(value)
  return value.toFixed(1)
}
