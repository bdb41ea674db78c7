import {
  createHeaderEdits,
  createResponseEdits,
  type HeaderEditSettings,
} from '../headers/header-edits.ts'
import { prepareSecurityHeaders, type SecurityHeaderSettings } from '../headers/security-headers.ts'
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
}

type ReadFile = (path: string) => Promise<Buffer>

/**
 * Prepares those settings once, so that a request of a route without them pays one comparison. `read`
 * reads the file of a fixed response.
 */
export async function shapeRoutes<Settings extends Omit<Route, 'shape'> & ShapingSettings>(
  routes: readonly Settings[],
  read: ReadFile,
): Promise<(Settings & Route)[]> {
  return Promise.all(
    routes.map(async (route) => {
      const shape = await shapeOf(route, read)
      return shape === undefined ? route : { ...route, shape }
    }),
  )
}

async function shapeOf(settings: ShapingSettings, read: ReadFile): Promise<RouteShape | undefined> {
  const { addresses, requestHeaders, responseHeaders, securityHeaders, respond } = settings
  const content = respond?.file === undefined ? undefined : await read(respond.file)
  const shape: RouteShape = {
    maxBodyBytes: settings.bodyBytes,
    timeouts: settings.timeouts,
    acceptsAddress: addresses && createAddressFilter(addresses),
    editRequest: requestHeaders && createHeaderEdits(requestHeaders),
    editResponse: responseHeaders && createResponseEdits(responseHeaders),
    securityHeaders: securityHeaders && prepareSecurityHeaders(securityHeaders),
    fixed: respond && prepareFixed(respond, content),
  }
  return Object.values(shape).some((part) => part !== undefined) ? shape : undefined
}
