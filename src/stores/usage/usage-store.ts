import type { Usage } from '../../policy/usage/usage.ts'
import type { EntryKind, UsageBatch } from './usage-entry.ts'

/** Where all gateways add up what they count. Every method throws a Fault when the store fails. */
export interface UsageStore {
  add(batch: UsageBatch): Promise<void>
  /** What is stored of these kinds for these days. */
  read(days: readonly string[], kinds: readonly EntryKind[]): Promise<Usage>
}
