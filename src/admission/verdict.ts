import { METHODS } from 'node:http'
import { decide } from '../policy/decide.ts'
import type { CompiledPolicies, Decision, Question } from '../policy/engine/decision.ts'
import { classify, isRefusedMethod, type Need, type Surface } from './classify.ts'
import {
  createOwnEndpoints,
  isServerWide,
  listOwnEndpoints,
  type OwnEndpoint,
  type OwnEndpointOptions,
  type PlacedEndpoint,
  serverWide,
} from './own-endpoints.ts'
import { type AccessRoute, createPathReader, createRoutes, type ReadPath } from './routes.ts'

/** The settings that decide who may make which request. */
interface AccessSettings {
  /** `undefined`: without a configuration, every path may have a route. */
  readonly routes: readonly AccessRoute[] | undefined
  readonly endpoints: OwnEndpointOptions
}

/** Settings, prepared for `evaluate`. */
export interface Admission extends Surface<AccessRoute> {
  readonly readPath: ReadPath
  readonly areRoutesKnown: boolean
  readonly routes: readonly AccessRoute[]
  readonly endpoints: readonly PlacedEndpoint[]
}

/** What decided: a step of the policy, a route or endpoint that needs no permission, or a refusal. */
type VerdictStep = Decision['step'] | 'route' | 'endpoint' | 'refused'

/** Why the gateway refuses a request without evaluating the policy. */
export type CallRefusal =
  | 'unknown-method'
  | 'ambiguous-path'
  | 'no-such-endpoint'
  | 'method-not-allowed'

/** What the gateway does with a request of a logged-in caller. */
export interface Verdict {
  readonly allowed: boolean
  readonly step: VerdictStep
  /** What the caller needs; absent for a request that is refused to everyone. */
  readonly need?: Need
  readonly refusal?: CallRefusal
  /** Canonical; absent when the path is ambiguous. */
  readonly path?: string
  readonly route?: AccessRoute
  readonly endpoint?: OwnEndpoint
  /** No route serves the path: a caller with permission gets 404. */
  readonly isUnserved: boolean
  /** Present when the policy was evaluated. */
  readonly decision?: Decision
}

export function createAdmission(settings: AccessSettings): Admission {
  const { routes = [], endpoints } = settings
  const findRoute = createRoutes(routes)
  return {
    findRoute,
    findEndpoint: createOwnEndpoints(endpoints),
    readPath: createPathReader(routes, findRoute),
    areRoutesKnown: settings.routes !== undefined,
    routes,
    endpoints: listOwnEndpoints(endpoints),
  }
}

/**
 * Decides as the gateway does for a caller with a valid token: own endpoints, routes and their
 * access, then `admin`, exclusions and rules. Pure. Throws only a Fault, when an engine fails.
 */
export function evaluate(
  { roleKey, method, path: raw }: Question,
  admission: Admission,
  policies: CompiledPolicies,
): Verdict {
  if (!parsedMethods.has(method)) return refused('unknown-method')
  if (isRefusedMethod(method)) return refused('method-not-allowed')
  const path = isServerWide(method, raw) ? serverWide : admission.readPath(raw)
  if (path === undefined) return refused('ambiguous-path')
  const { isRefused, route, endpoint, need } = classify(method, path, admission)
  if (isRefused) return refused('no-such-endpoint', { path })

  const isUnserved = admission.areRoutesKnown && endpoint === undefined && route === undefined
  const about = {
    path,
    need,
    isUnserved,
    ...(route !== undefined && endpoint === undefined && { route }),
    ...(endpoint !== undefined && { endpoint }),
  }
  const isOpenRoute = endpoint === undefined && need !== 'permission'
  if (isOpenRoute) return { ...about, allowed: true, step: 'route' }

  const decision = decide({ roleKey, method, path }, policies)
  const isAllowed = decision.allowed || need === 'nothing'
  if (isAllowed && endpoint?.name === 'wrong-method') return refused('method-not-allowed', about)
  // Everyone may call an open endpoint, whether or not the exclusion list contains it.
  if (need === 'nothing' && !decision.allowed) return { ...about, allowed: true, step: 'endpoint' }
  return { ...about, allowed: decision.allowed, step: decision.step, decision }
}

/** The HTTP parser rejects all other methods, whatever the policy allows. */
const parsedMethods: ReadonlySet<string> = new Set(METHODS)

function refused(refusal: CallRefusal, about: Partial<Verdict> = {}): Verdict {
  return { isUnserved: false, ...about, allowed: false, step: 'refused', refusal }
}
