import { type CommandSpec, configOption, opsOption, outputOption } from '../command.ts'

export const upstreamsSpec = {
  name: 'upstreams',
  summary: 'show the targets of a running gateway: state, load, ejections and last errors',
  details: `STATE says why a target gets no requests, or fewer: its weight is 0, its circuit is open, its health
check fails, outlier detection has ejected it, or it warms up. FAILED is the share of failed requests
in the last interval of outlier.errorShare, where that is on.

Asks the ops listener of one gateway, also while the configuration file is not valid: a note says so,
and ops.host and ops.port count as far as they are valid. With several workers, numbers are their sum,
and a state is the worst one of any worker.`,
  arguments: [],
  options: {
    ...opsOption,
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'shown',
    3: 'the configuration does not say where the gateway listens, and --ops is not given',
    5: 'the gateway did not answer',
  },
  examples: [
    'postern upstreams',
    'postern upstreams --ops http://10.0.0.5:9100',
    'postern upstreams --output json | jq \'.upstreams[].targets[] | select(.circuit != "closed")\'',
  ],
} as const satisfies CommandSpec

export const statusSpec = {
  name: 'status',
  summary: 'show version, readiness, policy and configuration of a running gateway',
  details: `Shows the revisions of the policy and of the configuration that requests are decided by. If the
configuration file was rejected, "rejected" says why; "needs restart" names changed settings that
only a restart applies. With several workers, "outdated" names those that could not apply the active
configuration and serve by an older one.

With --live, only says whether the gateway responds at all, as the HEALTHCHECK of the image asks: a
gateway that waits for its policy is live, and must not be restarted.

Asks the ops listener of one gateway, also while the configuration file is not valid: a note says so,
and ops.host and ops.port count as far as they are valid.`,
  arguments: [],
  options: {
    live: { description: 'only whether the gateway responds; it need not be ready' },
    ...opsOption,
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'ready, and the configuration file is active',
    1: 'not ready, or the configuration file was rejected or not applied by a worker',
    3: 'the configuration does not say where the gateway listens, and --ops is not given',
    5: 'the gateway did not answer',
  },
  examples: [
    'postern status',
    'postern status --live  # for a liveness check',
    'postern status --ops http://10.0.0.5:9100',
    'postern status --output json | jq -r .configuration.revision',
  ],
} as const satisfies CommandSpec
