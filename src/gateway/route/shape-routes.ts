import { type AddressLists, createAddressFilter } from './address-lists.ts'
import type { Route, RouteShape, RouteTimeouts } from './route.ts'

/** The settings of a route that shape its requests, as the configuration has them. */
interface ShapingSettings {
  readonly bodyBytes?: number
  readonly timeouts?: RouteTimeouts
  readonly addresses?: AddressLists
}

/** Prepares those settings once, so that a request of a route without them pays one comparison. */
export function shapeRoutes<Settings extends Omit<Route, 'shape'> & ShapingSettings>(
  routes: readonly Settings[],
): (Settings & Route)[] {
  return routes.map((route) => {
    const shape = shapeOf(route)
    return shape === undefined ? route : { ...route, shape }
  })
}

function shapeOf({ bodyBytes, timeouts, addresses }: ShapingSettings): RouteShape | undefined {
  const shape: RouteShape = {
    maxBodyBytes: bodyBytes,
    timeouts,
    acceptsAddress: addresses && createAddressFilter(addresses),
  }
  return Object.values(shape).some((part) => part !== undefined) ? shape : undefined
}
