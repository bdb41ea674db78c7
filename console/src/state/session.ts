import type { Session } from '#client'
import { createStore, type Store } from './store.ts'

/** Who is logged in. `undefined`: not known yet. `null`: no one is logged in. */
export const session: Store<Session | null | undefined> = createStore(undefined)

/** Why the last call could not be answered: shown until a call is answered again. */
export interface Outage {
  /** `network`: the console did not answer. `store`: it answered that a store is unreachable. */
  readonly kind: 'network' | 'store'
  readonly message: string
}
export const outage: Store<Outage | undefined> = createStore(undefined)
