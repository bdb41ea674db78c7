import { type CommandSpec, configOption, outputOption } from '../../command.ts'

export const filesSpec = {
  name: 'policy files',
  summary: 'print the files of a policy',
  details: `Prints model.conf, *.csv and exclusions.yaml as they were published or proposed, or as they are in a
directory, also if they are not valid. Writes nothing: "postern policy pull" writes a directory.

Tests are never published. With --tests, a published policy comes with those of policy.directory, if
that directory exists. Works offline unless the policy is published.`,
  arguments: [
    {
      name: 'DIR|REVISION|live',
      optional: true,
      description:
        'a directory, a revision, a proposal or live (default: what the gateway of the configuration loads)',
    },
  ],
  options: {
    tests: { description: 'also print tests/*_test.yaml' },
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'printed',
    3: 'a file cannot be read, or the configuration is not valid',
    5: 'Redis is unreachable, nothing is published, or the revision does not exist',
  },
  examples: [
    'postern policy files',
    'postern policy files live --tests',
    "postern policy files r-3f2a9c81d604 --output json | jq -r '.files[].name'",
    'postern policy files r-3f2a9c81d604 > before.txt  # to compare line by line',
  ],
} as const satisfies CommandSpec
