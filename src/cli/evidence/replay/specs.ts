import { type CommandSpec, configOption, reportOption } from '../../command.ts'

export const replaySpec = {
  name: 'policy replay',
  summary: 'ask a policy again what gateways decided',
  details: `Reads decision logs (logger.decisions), also compressed with gzip and mixed with other log lines, and asks
a policy what it would have answered. Compares with the recorded result and prints the calls that
change, grouped by the line that decided then and the line that would decide now. Changes nothing.

Asks again what a policy decided (steps admin, exclusion, superuser, rule and none). Counts decisions
about identity and routes, which no policy makes. A decision whose path is hashed or omitted could
not be asked again; neither could a damaged line. Both are counted.`,
  arguments: [
    {
      name: 'FILE',
      optional: true,
      many: true,
      description:
        'decision logs; - reads standard input (default: logger.decisions.file of the configuration)',
    },
  ],
  options: {
    policies: {
      value: 'DIR|REVISION|live',
      description:
        'policy to ask: a directory, a commit (git:REF), a revision or live (default: policy.directory of the configuration, else policies)',
    },
    since: {
      value: 'TIME',
      description: 'leave out earlier decisions: 6h, 7d or a UTC date such as 2026-11-01',
    },
    'fail-on': {
      value: 'CHANGE',
      choices: ['deny', 'allow', 'any'],
      description:
        'exit with 1 if calls would be denied (deny), would be allowed (allow), or either (any)',
    },
    ...reportOption,
    ...configOption,
  },
  exitCodes: {
    0: 'asked; with --fail-on, no such change',
    1: 'calls change in the way that --fail-on names',
    3: 'a log does not exist, or the policy or the configuration is not valid',
    5: 'no decision could be asked, Redis is unreachable, or the revision or commit does not exist',
  },
  examples: [
    'postern policy replay --since 6h  # what this gateway decided lately',
    'postern policy replay /var/log/postern/decisions*.jsonl*',
    'postern policy replay decisions.jsonl --policies ../new-policies --fail-on deny',
    'postern policy replay decisions.jsonl.gz --policies git:HEAD --output markdown',
    'kubectl logs -l app=postern --tail=-1 | postern policy replay -',
    "postern policy replay decisions.jsonl --output json | jq -r '.changes[].example.requestId'",
  ],
} as const satisfies CommandSpec
