import type { Config } from '../config/schema/schema.ts'

/** The configuration of one of `count` workers: limits of the gateway are divided and rounded up. */
export function shareOf(config: Config, count: number): Config {
  const part = (limit: number) => Math.ceil(limit / count)
  const { limits, overload, database, login, upstreams } = config

  return {
    ...config,
    limits: {
      ...limits,
      connections: part(limits.connections),
      connectionsPerAddress: part(limits.connectionsPerAddress),
    },
    overload: { ...overload, inFlight: part(overload.inFlight) },
    database: { ...database, poolSize: part(database.poolSize) },
    login: {
      ...login,
      passwordConcurrency: part(login.passwordConcurrency),
      passwordQueue: part(login.passwordQueue),
    },
    upstreams: Object.fromEntries(
      Object.entries(upstreams).map(([name, upstream]) => [
        name,
        {
          ...upstream,
          connections: part(upstream.connections),
          tunnels: part(upstream.tunnels),
        },
      ]),
    ),
  }
}
