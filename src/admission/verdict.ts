import { METHODS } from 'node:http'
import { decide } from '../policy/decide.ts'
import type { CompiledPolicies, Decision, Question } from '../policy/engine/decision.ts'
import { canonicalHost, createHostReader, type ReadHost } from './canonical-host.ts'
import { classify, isRefusedMethod, type Need, type Surface } from './classify.ts'
import {
  createOwnEndpoints,
  listOwnEndpoints,
  type OwnEndpoint,
  type OwnEndpointOptions,
  type PlacedEndpoint,
} from './own-endpoints.ts'
import { createRoutes } from './route-table.ts'
import { type AccessRoute, createPathReader } from './routes.ts'
import { createServedHosts, type ServesHost } from './served-hosts.ts'
import { readTarget, type TargetParts } from './target.ts'

/** The settings that decide who may make which request. */
interface AccessSettings<Route extends AccessRoute> {
  /** `undefined`: without a configuration, every path may have a route. */
  readonly routes: readonly Route[] | undefined
  readonly endpoints: OwnEndpointOptions
  /** Whether another proxy asks Postern and forwards by routes of its own (forward-auth). */
  readonly forwardAuth?: boolean
  /** Unset: unlimited. */
  readonly maxTargetBytes?: number
  /** Hosts to serve besides those of the routes. Unset: only those, or any if a route is for any host. */
  readonly hosts?: readonly string[] | undefined
  /** The host of the login page, which no route needs to name. */
  readonly pageHost?: string | undefined
  /** Whether the policy needs the host, even if no route does. */
  readonly policyUsesHost?: boolean
}

export interface HostParts {
  /** Canonicalizes the host of a request; `undefined` if neither routes nor the policy need it. */
  readonly readHost: ReadHost | undefined
  readonly servesHost: ServesHost
  /** Whether the host is Casbin's domain. */
  readonly policyUsesHost: boolean
}

/** Settings, prepared for the gateway and for `evaluate`. */
export interface Admission<Route extends AccessRoute = AccessRoute>
  extends Surface<Route>,
    TargetParts,
    HostParts {
  readonly areRoutesKnown: boolean
  /** Whether the gateway alone serves, so that a path without a route gets 404. */
  readonly needsRoute: boolean
  readonly routes: readonly Route[]
  readonly endpoints: readonly PlacedEndpoint[]
  /** The host of questions that name none. */
  readonly assumedHost?: string
}

/** What decided: a step of the policy, a route or endpoint that needs no permission, or a refusal. */
type VerdictStep = Decision['step'] | 'route' | 'endpoint' | 'refused'

/** Why a request has no caller: it has no token, or one that the gateway rejects. */
export type TokenProblem =
  | 'token-missing'
  | 'token-invalid'
  | 'token-expired'
  | 'token-too-long-lived'
  | 'token-revoked'

/** Why the gateway refuses a request without evaluating the policy. */
export type CallRefusal =
  | 'unknown-method'
  | 'ambiguous-path'
  | 'target-too-long'
  | 'bad-request'
  | 'no-such-host'
  | 'no-such-endpoint'
  | 'method-not-allowed'
  | TokenProblem

/** What the gateway does with a request. */
export interface Verdict {
  readonly allowed: boolean
  readonly step: VerdictStep
  /** What the caller needs; absent for a request that is refused to everyone. */
  readonly need?: Need
  readonly refusal?: CallRefusal
  /** Canonical; absent when the path is ambiguous. */
  readonly path?: string
  /** Canonical; absent when the question names none. */
  readonly host?: string
  readonly route?: AccessRoute
  readonly endpoint?: OwnEndpoint
  /** No route serves the path: a caller with permission gets 404. */
  readonly isUnserved: boolean
  /** Present when the policy was evaluated. */
  readonly decision?: Decision
}

export function createAdmission<Route extends AccessRoute>(
  settings: AccessSettings<Route>,
): Admission<Route> {
  const { routes = [], endpoints, hosts, maxTargetBytes = Number.POSITIVE_INFINITY } = settings
  const { policyUsesHost = false } = settings
  const findRoute = createRoutes(routes)
  const usesHost = hosts !== undefined || routes.some((route) => route.hosts !== undefined)
  return {
    readHost: usesHost || policyUsesHost ? createHostReader() : undefined,
    policyUsesHost,
    servesHost: createServedHosts(routes, hosts, settings.pageHost),
    findRoute,
    findEndpoint: createOwnEndpoints(endpoints),
    readPath: createPathReader(routes, findRoute),
    maxTargetBytes,
    areRoutesKnown: settings.routes !== undefined,
    needsRoute: settings.routes !== undefined && settings.forwardAuth !== true,
    routes,
    endpoints: listOwnEndpoints(endpoints),
  }
}

/**
 * Decides as the gateway does for a caller with a valid token: own endpoints, routes and their
 * access, then `admin`, exclusions and rules. `path` may have a query, which no policy sees. Without
 * `host`, the request is one for its domain if that is the host, else for a host that only routes for
 * any host serve. Pure. Throws only a Fault, when an engine fails.
 */
export function evaluate(
  { roleKey, domain: given, method, path: target, host: rawHost }: Question,
  admission: Admission,
  policies: CompiledPolicies,
): Verdict {
  const { policyUsesHost } = admission
  const located = locate(method, target, policyUsesHost ? (rawHost ?? given) : rawHost, admission)
  if ('step' in located) return located
  const { path, host, need, endpoint } = located
  const isOpenRoute = endpoint === undefined && need !== 'permission'
  if (isOpenRoute) return { ...located, allowed: true, step: 'route' }
  if (need === 'identity') {
    if (endpoint?.name === 'wrong-method') return refused('method-not-allowed', located)
    return { ...located, allowed: true, step: 'endpoint' }
  }

  const domain = policyUsesHost ? host : given
  const decision = decide({ roleKey, domain, method, path }, policies)
  const isAllowed = decision.allowed || need === 'nothing'
  if (isAllowed && endpoint?.name === 'wrong-method') return refused('method-not-allowed', located)
  // Everyone may call an open endpoint, whether or not the exclusion list contains it.
  if (need === 'nothing' && !decision.allowed)
    return { ...located, allowed: true, step: 'endpoint' }
  return { ...located, allowed: decision.allowed, step: decision.step, decision }
}

/** The verdict for a request without a token, or with a rejected one. No policy decides. */
export function evaluateUnidentified(
  { method, path: target, host }: Omit<Question, 'roleKey'>,
  problem: TokenProblem,
  admission: Admission,
): Verdict {
  const located = locate(method, target, host, admission)
  if ('step' in located) return located
  const { need, endpoint } = located
  // The gateway reads no token where it needs none, so a bad one does no harm there.
  if (need !== 'nothing') return refused(problem, located)
  if (endpoint?.name === 'wrong-method') return refused('method-not-allowed', located)
  return { ...located, allowed: true, step: endpoint === undefined ? 'route' : 'endpoint' }
}

/** A request that is not refused to everyone. */
interface Located extends Pick<Verdict, 'route' | 'endpoint' | 'isUnserved' | 'host'> {
  readonly path: string
  readonly need: Need
}

function locate(
  method: string,
  target: string,
  rawHost: string | undefined,
  admission: Admission,
): Located | Verdict {
  if (!parsedMethods.has(method)) return refused('unknown-method')
  if (isRefusedMethod(method)) return refused('method-not-allowed')
  const asked = rawHost ?? admission.assumedHost
  const host = asked === undefined ? undefined : canonicalHost(asked)
  if (asked !== undefined) {
    if (host === undefined) return refused('bad-request')
    if (!admission.servesHost(host)) return refused('no-such-host', { host })
  }
  const read = readTarget(method, target, admission, host)
  if (read.refusal !== undefined) return refused(read.refusal)
  const { path } = read
  const { isRefused, route, endpoint, need } = classify(method, path, admission, host)
  if (isRefused) return refused('no-such-endpoint', { path })

  return {
    path,
    ...(host !== undefined && { host }),
    need,
    isUnserved: admission.needsRoute && endpoint === undefined && route === undefined,
    ...(route !== undefined && endpoint === undefined && { route }),
    ...(endpoint !== undefined && { endpoint }),
  }
}

/** The HTTP parser rejects all other methods, whatever the policy allows. */
const parsedMethods: ReadonlySet<string> = new Set(METHODS)

function refused(refusal: CallRefusal, about: Partial<Verdict> = {}): Verdict {
  return { isUnserved: false, ...about, allowed: false, step: 'refused', refusal }
}
