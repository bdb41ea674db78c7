import { type CommandSpec, configOption, outputOption } from '../command.ts'
import { publishOptions } from './specs.ts'

export const shadowSpec = {
  name: 'policy shadow',
  summary: 'show what the shadow would deny and allow, or end it',
  details: `"push --shadow" makes a policy the shadow: gateways decide by the live policy only, ask the shadow
about the same requests, and report where the two differ. This command adds up the reports of all
replicas, those that have ended included. A replica that does not evaluate the shadow is listed: an
older version, or one that could not load it.

Counting begins with "push --shadow". It continues when a gateway restarts and when another revision
becomes live; the output then names every live revision that the shadow was compared with. To begin
again at 0, end the shadow and push it again.`,
  usage: ['[end] [OPTIONS]'],
  arguments: [
    {
      name: 'end',
      optional: true,
      choices: ['end'],
      description: 'end the shadow and delete what was counted',
    },
  ],
  options: {
    limit: {
      value: 'N',
      number: { min: 1, integer: true },
      default: '20',
      description: 'number of lines for each of the two lists, most frequent first',
    },
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'listed or ended',
    1: 'no shadow runs',
    3: 'the configuration is not valid',
    5: 'Redis is unreachable',
  },
  examples: [
    'postern policy shadow',
    'postern policy shadow --output json | jq \'.disagreements[] | select(.would == "deny")\'',
    'postern policy shadow end',
  ],
} as const satisfies CommandSpec

export const promoteSpec = {
  name: 'policy promote',
  summary: 'make the shadow live if its evidence allows it',
  details: `Publishes exactly the policy that gateways evaluate as the shadow, as "push" would. The history keeps
the evidence: decisions, would-deny, would-allow, replicas and time.

Refuses when the shadow would deny more requests than --max-would-deny, has not been asked about any
request, or when a running replica does not evaluate it or has evaluated it for less than --after. To
publish without evidence, use "push".

With policy.trust, promote needs signatures for the live policy: --key FILE, or an approved proposal
of this revision when more than one signature is required.`,
  arguments: [
    {
      name: 'REVISION',
      description: 'revision of the shadow; its first 12 hex digits are enough',
    },
  ],
  options: {
    after: {
      value: 'DURATION',
      description: 'refuse unless every running replica has evaluated it for this long, such as 1h',
    },
    'max-would-deny': {
      value: 'N',
      number: { min: 0, integer: true },
      default: '0',
      description: 'refuse when the shadow would have denied more requests than N',
    },
    message: {
      short: 'm',
      value: 'MESSAGE',
      description: 'reason for this change (default: the reason of the shadow)',
    },
    ...publishOptions,
  },
  exitCodes: {
    0: 'published and active on every replica (with --no-wait: published)',
    1: 'not published: no such shadow, not enough evidence or signatures; or replicas are behind',
    3: 'the configuration is not valid',
    5: 'Redis is unreachable or does not confirm what was published',
  },
  examples: [
    'postern policy promote r-3f2a9c81d604 --after 1h',
    'postern policy promote r-3f2a9c81d604 --after 1d --max-would-deny 3 --yes',
  ],
} as const satisfies CommandSpec
