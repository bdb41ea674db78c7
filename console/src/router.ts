import { type Address, addressOf, parseAddress } from './address.ts'
import { createStore, type Store } from './state/store.ts'

/** Where the browser is. */
export const address: Store<Address> = createStore(parseAddress(location.hash))

export function followAddress(): void {
  addEventListener('hashchange', () => address.set(parseAddress(location.hash)))
}

/** Opens a page. `replace` leaves no entry in the history of the browser. */
export function open(
  page: string,
  query: Readonly<Record<string, string | undefined>> = {},
  { replace = false } = {},
): void {
  const target = addressOf(page, query)
  if (!replace) {
    location.hash = target
    return
  }
  history.replaceState(null, '', target)
  address.set(parseAddress(location.hash))
}

let navigations = 0
address.follow(() => {
  navigations++
})

/** Whether the reader has changed the page since it was loaded. */
export function hasNavigated(): boolean {
  return navigations > 0
}
