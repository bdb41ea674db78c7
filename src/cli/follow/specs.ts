import { type CommandSpec, configOption, outputOption } from '../command.ts'
import help from '../help-texts/policy.json' with { type: 'json' }

export const followSpec = {
  ...help['policy follow'],
  name: 'policy follow',
  summary: "keep a policy up to date with go-admin's Casbin table",
  arguments: [
    { name: 'SOURCE', choices: ['database'], description: 'database (go-admin)' },
    {
      ...{ name: 'DIR', optional: true },
      description:
        'policy directory (default: policy.directory of the configuration, else policies)',
    },
  ],
  options: {
    interval: {
      value: 'SECONDS',
      number: { min: 0.5, max: 600 },
      description: 'pause between comparisons (default: 3)',
    },
    once: { description: 'compare once, publish if needed, and exit' },
    table: {
      value: 'NAME',
      choices: ['casbin_rule', 'sys_casbin_rule'],
      description: 'table to follow (default: the one that has rows)',
    },
    over: {
      value: 'REVISION|live',
      description: 'the live revision that the first publication may replace; "live": any',
    },
    key: {
      value: 'FILE',
      description: 'sign with this private key, for gateways with policy.trust',
    },
    metrics: {
      value: 'FILE',
      description: "write metrics to this file, for node_exporter's textfile collector",
    },
    ...outputOption,
    ...configOption,
  },
} as const satisfies CommandSpec
