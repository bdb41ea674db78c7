import { routeLabel } from '../../admission/route-label.ts'
import { pathShape } from '../../policy/usage/path-shape.ts'
import type { RefusedCall } from '../../policy/usage/usage.ts'
import { questionOf } from '../question.ts'
import type { Identified } from '../stages.ts'

/** A refused call and how often it came, which grows in place. */
interface Refused extends RefusedCall {
  count: number
}

export const refusalLimits = {
  entries: 1000,
  /** Half of the entries are left for routes, so that a scan of paths does not hide its role. */
  paths: 500,
  /** One role that scans leaves space for the paths of others. */
  pathsOfRole: 100,
} as const

/** Counts what is refused to which role. Clients choose paths, so everything is bounded. */
export function createRefusalCounter(showPaths: boolean) {
  const refusals = new Map<string, Refused>()
  const pathsOf = new Map<string, number>()

  /** Whether there was space for it. */
  function addCall(call: RefusedCall, most: number): boolean {
    const name = nameOf(call)
    const known = refusals.get(name)
    if (known !== undefined) known.count++
    else if (refusals.size < most) refusals.set(name, { ...call, count: 1 })
    else return false
    return true
  }

  function addPath(call: RefusedCall): boolean {
    const { roleKey } = call
    const known = refusals.get(nameOf(call))
    const paths = pathsOf.get(roleKey) ?? 0
    if (known !== undefined) known.count++
    else if (paths >= refusalLimits.pathsOfRole || !addCall(call, refusalLimits.paths)) return false
    else pathsOf.set(roleKey, paths + 1)
    return true
  }

  return {
    /** Whether there was space for it. */
    add({ token, received }: Identified): boolean {
      const path = showPaths ? pathShape(received.call.path) : undefined
      const { domain } = questionOf(received, token)
      const coarse = {
        roleKey: token?.caller.roleKey ?? '',
        method: received.call.method,
        ...(received.route !== undefined && { route: routeLabel(received.route) }),
      }
      const where = domain === undefined ? {} : { domain }
      if (path !== undefined && addPath({ ...coarse, ...where, path })) return true
      // Without the domain: clients choose hosts, and would fill the entries that routes need.
      return addCall(coarse, refusalLimits.entries)
    },
    /**
     * What was counted. Of a role with more paths than are kept, those that came once are counted by
     * route: a scan would else fill the day that all gateways share, and hide what comes again.
     */
    result(): ReadonlyMap<string, Readonly<Refused>> {
      for (const [name, { path, domain: _, count, ...coarse }] of refusals) {
        const isScan = pathsOf.get(coarse.roleKey) === refusalLimits.pathsOfRole
        if (path === undefined || count > 1 || !isScan) continue
        if (addCall(coarse, refusalLimits.entries)) refusals.delete(name)
      }
      return refusals
    },
  }
}

function nameOf({ roleKey, domain = '', method, path = '', route = '' }: RefusedCall): string {
  return `${roleKey}\0${domain}\0${method}\0${path}\0${route}`
}
