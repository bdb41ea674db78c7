import { createStore, type Store } from './store.ts'

/** A change that waits for a password. `done` says whether it was entered. */
interface Confirmation {
  readonly done: (isConfirmed: boolean) => void
}

export const confirmation: Store<Confirmation | undefined> = createStore(undefined)
