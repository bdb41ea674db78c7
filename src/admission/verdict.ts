import { METHODS } from 'node:http'
import { decide } from '../policy/decide.ts'
import type { CompiledPolicies, Decision, Question } from '../policy/engine/decision.ts'
import {
  createOwnEndpoints,
  isServerWide,
  type OwnEndpoint,
  type OwnEndpointOptions,
  serverWide,
} from './own-endpoints.ts'
import { type AccessRoute, createPathReader, createRoutes, type ReadPath } from './routes.ts'
import { isRefusedMethod, type Need, type Surface, settle } from './settle.ts'

/** What a configuration says about calls, as far as it decides who may make them. */
interface AccessSettings {
  /** `undefined`: no configuration is known, so every path may have a route. */
  readonly routes: readonly AccessRoute[] | undefined
  readonly endpoints: OwnEndpointOptions
}

/** Settings that have been made ready to answer. */
export interface Admission extends Surface<AccessRoute> {
  readonly readPath: ReadPath
  readonly areRoutesKnown: boolean
}

/** What decided: the policy's step, a route or an endpoint that asks no policy, or a refusal. */
type VerdictStep = Decision['step'] | 'route' | 'endpoint' | 'refused'

/** Why the gateway turns a call away before, or besides, asking the policy. */
export type CallRefusal =
  | 'unknown-method'
  | 'ambiguous-path'
  | 'no-such-endpoint'
  | 'method-not-allowed'

/** What the gateway does with a call of a logged-in caller. */
export interface Verdict {
  readonly allowed: boolean
  readonly step: VerdictStep
  /** What the caller needed to show; absent for a call that is refused to everyone. */
  readonly need?: Need
  readonly refusal?: CallRefusal
  /** Canonical; absent when there is no such reading. */
  readonly path?: string
  readonly route?: AccessRoute
  readonly endpoint?: OwnEndpoint
  /** Nothing serves the path: a caller with permission gets 404. */
  readonly isUnserved: boolean
  /** Only where the policy was asked. */
  readonly decision?: Decision
}

/** Makes settings ready to answer. */
export function createAdmission({ routes, endpoints }: AccessSettings): Admission {
  const findRoute = createRoutes(routes ?? [])
  return {
    findRoute,
    findEndpoint: createOwnEndpoints(endpoints),
    readPath: createPathReader(routes ?? [], findRoute),
    areRoutesKnown: routes !== undefined,
  }
}

/**
 * Answers as the gateway does for a caller with a valid token: own endpoints, routes and their
 * access, then `admin`, exclusions and rules. Pure. Throws only a Fault, when an engine breaks.
 */
export function judge(
  { roleKey, method, path: raw }: Question,
  admission: Admission,
  policies: CompiledPolicies,
): Verdict {
  if (!parsedMethods.has(method)) return refused('unknown-method')
  if (isRefusedMethod(method)) return refused('method-not-allowed')
  const path = isServerWide(method, raw) ? serverWide : admission.readPath(raw)
  if (path === undefined) return refused('ambiguous-path')
  const { isRefused, route, endpoint, need } = settle(method, path, admission)
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
  // An endpoint that everyone may call asks no policy, and most are on its exclusion list anyway.
  if (need === 'nothing' && !decision.allowed) return { ...about, allowed: true, step: 'endpoint' }
  return { ...about, allowed: decision.allowed, step: decision.step, decision }
}

/** Those that the parser of requests knows: it rejects all others, whatever a policy allows. */
const parsedMethods: ReadonlySet<string> = new Set(METHODS)

function refused(refusal: CallRefusal, about: Partial<Verdict> = {}): Verdict {
  return { isUnserved: false, ...about, allowed: false, step: 'refused', refusal }
}
