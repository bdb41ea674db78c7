import {
  createHeaderEdits,
  createResponseEdits,
  type HeaderEditSettings,
} from '../headers/header-edits.ts'
import { prepareSecurityHeaders, type SecurityHeaderSettings } from '../headers/security-headers.ts'
import { prepareSticky, type StickyParts, type StickySettings } from '../upstream/sticky.ts'
import { type AddressLists, createAddressFilter } from './address-lists.ts'
import { type FixedSettings, prepareFixed } from './fixed-response.ts'
import type { Route, RouteShape, RouteTimeouts } from './route.ts'

/** The settings of a route that shape its requests and responses, as the configuration has them. */
interface ShapingSettings {
  readonly bodyBytes?: number
  readonly timeouts?: RouteTimeouts
  readonly addresses?: AddressLists
  readonly requestHeaders?: HeaderEditSettings
  readonly responseHeaders?: HeaderEditSettings
  readonly securityHeaders?: SecurityHeaderSettings
  readonly respond?: FixedSettings
  readonly sticky?: StickySettings
}

interface ShapingParts {
  /** Reads the file of a fixed response. */
  readonly read: (path: string) => Promise<Buffer>
  readonly sticky: StickyParts
}

/**
 * Prepares those settings once, so that a request of a route without them pays one comparison.
 */
export async function shapeRoutes<Settings extends Omit<Route, 'shape'> & ShapingSettings>(
  routes: readonly Settings[],
  parts: ShapingParts,
): Promise<(Settings & Route)[]> {
  return Promise.all(
    routes.map(async (route) => {
      const shape = await prepareShape(route, parts)
      return shape === undefined ? route : { ...route, shape }
    }),
  )
}

async function prepareShape(
  settings: Omit<Route, 'shape'> & ShapingSettings,
  parts: ShapingParts,
): Promise<RouteShape | undefined> {
  const { addresses, requestHeaders, responseHeaders, securityHeaders, respond, sticky } = settings
  const { path, upstream } = settings
  const content = respond?.file === undefined ? undefined : await parts.read(respond.file)
  const shape: RouteShape = {
    maxBodyBytes: settings.bodyBytes,
    timeouts: settings.timeouts,
    acceptsAddress: addresses && createAddressFilter(addresses),
    editRequest: requestHeaders && createHeaderEdits(requestHeaders),
    editResponse: responseHeaders && createResponseEdits(responseHeaders),
    securityHeaders: securityHeaders && prepareSecurityHeaders(securityHeaders),
    fixed: respond && prepareFixed(respond, content),
    sticky:
      sticky && upstream !== undefined
        ? prepareSticky(sticky, { path, upstream }, parts.sticky)
        : undefined,
  }
  return Object.values(shape).some((part) => part !== undefined) ? shape : undefined
}

/** The names of the cookies by which clients stay with a target. */
export function stickyCookies(routes: readonly Route[]): ReadonlySet<string> {
  return new Set(routes.flatMap(({ shape }) => shape?.sticky?.cookie ?? []))
}
