import { type CommandSpec, fileArgument, outputOption } from '../command.ts'

export const doctorSpec = {
  name: 'doctor',
  summary: 'check everything that "postern serve" needs, and say how to fix what is wrong',
  details: `Opens what the gateway opens: configuration, keys, certificates, policy, data directory, ports, Redis,
database, identity providers and directories, connects to the targets of upstreams, and sends the trace
collector an export without spans. Prints one line for each check, and below a warning or problem what to do
about it. A warning does not keep the gateway from working.

Changes nothing: it creates no table, file or database, and is safe beside a running gateway. Run it as
the user of the gateway and with its environment. Passwords and keys are never printed.`,
  arguments: [fileArgument],
  options: {
    timeout: {
      value: 'SECONDS',
      number: { min: 1, max: 600 },
      default: '15',
      description: 'time for each check; all run at once',
    },
    ...outputOption,
  },
  exitCodes: {
    0: 'no problems: the gateway would start and work',
    1: 'problems were found',
  },
  examples: [
    'postern doctor',
    'postern doctor /etc/postern/postern.yaml',
    'postern doctor --output json | jq -r \'.checks[] | select(.status != "ok") | .message\'',
  ],
} as const satisfies CommandSpec
