import type { ReadOriginal } from '../../gateway/original-request.ts'
import type { FindErrorPage } from '../error-page.ts'
import { loginLocation } from './name-login.ts'

/** The page for the client of the proxy, which passes on what refuses a request. */
export function createCheckPages(find: FindErrorPage, readOriginal: ReadOriginal): FindErrorPage {
  return (error, forwardAuth, requestId) => {
    // Without a path, the forward-auth request itself was refused.
    if (forwardAuth.notes.path === undefined || loginLocation(error) !== undefined) return undefined
    return find(error, readOriginal(forwardAuth).arrival, requestId)
  }
}
