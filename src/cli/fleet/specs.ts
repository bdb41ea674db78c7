import { type CommandSpec, configOption, opsOption, outputOption } from '../command.ts'

export const fleetSpec = {
  name: 'fleet',
  summary: 'show every running gateway: version, policy, keys, certificate, targets and requests',
  details: `With policy.source redis, shows every process that reports to Redis, as "policy status" does, and what
each one says of itself. Otherwise, or with --ops, asks the ops listener of one gateway.

STATE is "current" (uses the live policy), "behind" (uses another one), "stale" (cannot confirm its
policy) or "lost" (stopped reporting without an orderly shutdown; it may still run). Each worker of a
gateway is a line of its own. CLOCK is how far its clock is ahead of that of Redis, or of the database
without Redis; from 5 seconds, a warning says so. OUT counts targets that get no requests: their circuit is open, their
health check fails, or outlier detection has ejected them.`,
  arguments: [],
  options: { ...opsOption, ...outputOption, ...configOption },
  exitCodes: {
    0: 'every known gateway uses the live policy',
    1: 'gateways are behind, stale, lost or unknown',
    3: 'the configuration is not valid',
    5: 'Redis or the gateway did not answer',
  },
  examples: [
    'postern fleet',
    'postern fleet --ops http://10.0.0.5:9100',
    "postern fleet --output json | jq -r '.replicas[] | select(.facts.upstreams.out > 0) | .id'",
  ],
} as const satisfies CommandSpec
