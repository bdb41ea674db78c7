import { routeLabel } from '../../admission/route-label.ts'
import { guardrailProblems } from '../../answers/guard.ts'
import { createServingRoutes } from '../../answers/serving-routes.ts'
import type { Surroundings as CheckedAgainst } from '../../policy/checks/check.ts'
import { type KnownRoles, knownRoles } from '../../policy/checks/known-roles.ts'
import type { ServedRoutes } from '../../policy/checks/served-paths.ts'
import { domainProblem } from '../../policy/domain.ts'
import { hasDomain } from '../../policy/model/model.ts'
import type { Surroundings } from '../context.ts'
import type { PolicySettings } from '../policy-settings.ts'
import { readVersion } from './versions.ts'

/** The options that say what to check a policy against. */
interface SurroundingOptions {
  readonly config: string | undefined
  readonly against?: string | undefined
  readonly accounts?: boolean
}

/**
 * The routes of the configuration and, where the user asks for them, the roles of another policy and of
 * the accounts. Only the latter need a network. Throws a Fault when they cannot be asked.
 */
export async function readSurroundings(
  settings: PolicySettings,
  { config, against, accounts = false }: SurroundingOptions,
  io: Surroundings,
): Promise<CheckedAgainst> {
  const before = against === undefined ? undefined : await rolesOfVersion(against, settings, io)
  const assignable = accounts ? await rolesOfAccounts(settings, config, io) : undefined
  const routes = routesOf(settings)
  const { config: known } = settings
  const { admission } = settings.admission()
  const now = io.now?.() ?? Date.now()
  return {
    broken: (set, expectations) => guardrailProblems({ set, admission, expectations, now }),
    ...(known !== undefined && {
      problem: ({ model }) => domainProblem(hasDomain(model), known.policy.domain),
      isHostDomain: known.policy.domain?.from === 'host',
    }),
    ...(routes !== undefined && { routes }),
    ...(before !== undefined && { before }),
    ...(assignable !== undefined && { assignable }),
  }
}

/**
 * With forward-auth another proxy routes, and a configuration without routes is one for publishing: then
 * it is not known what gateways serve.
 */
function routesOf(settings: PolicySettings): ServedRoutes | undefined {
  const { config } = settings
  // Throws when the user named a configuration that is not valid.
  settings.admission()
  if (config === undefined || config.forwardAuth.enabled || config.routes.length === 0)
    return undefined
  const servingRoutes = createServingRoutes(config.routes)
  return {
    all: config.routes,
    serving: (pattern) => servingRoutes(pattern).routes,
    label: (route) => routeLabel(route),
  }
}

async function rolesOfVersion(
  against: string,
  settings: PolicySettings,
  io: Surroundings,
): Promise<KnownRoles> {
  const { set } = await readVersion(against, settings, io)
  return knownRoles(against === 'live' ? `the live policy ${set.revision}` : against, set)
}

/** Loads the database drivers only where they are needed: they take longer to load than most checks. */
async function rolesOfAccounts(
  settings: PolicySettings,
  file: string | undefined,
  io: Surroundings,
): Promise<KnownRoles> {
  const { readAssignableRoles } = await import('./assignable-roles.ts')
  return readAssignableRoles(settings, file, io)
}
