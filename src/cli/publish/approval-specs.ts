import { type CommandSpec, configOption, outputOption } from '../command.ts'
import { candidateOptions, keyOption, messageOption, replayOption } from './specs.ts'

export const proposeSpec = {
  name: 'policy propose',
  summary: 'check and test a policy, and store it for others to approve',
  details: `Does what "push" does, except publishing: checks, tests and compares with the live policy. Stores policy
and results in Redis for 30 days, where others review and sign it. Nothing changes for the gateways until
"postern policy push REVISION" publishes it. A REVISION that was live before proposes a rollback.`,
  arguments: [
    {
      name: 'DIR|REVISION',
      optional: true,
      description: 'policy directory (default: policy.directory), or an earlier revision',
    },
  ],
  options: {
    ...messageOption,
    ...candidateOptions,
    replay: {
      ...replayOption.replay,
      description: 'show and record how many decisions of this decision log would change',
    },
    key: { ...keyOption.key, description: 'sign the proposal with this private key at once' },
    over: {
      value: 'REVISION|live',
      description: 'propose only if this revision is live; "live" replaces any revision',
    },
    author: {
      value: 'NAME',
      description: 'author of the proposal (default: the owner of the key, else your user name)',
    },
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'proposed',
    1: 'not proposed: it would undo a later revision, is proposed already, or the key is not trusted',
    3: 'the policy, the configuration or the key is not valid',
    4: 'a test failed, or the directory has no tests',
    5: 'Redis is unreachable, or the revision does not exist',
  },
  examples: [
    "postern policy propose -m 'clerks may cancel orders' --key ann.pem",
    "postern policy propose -m 'clerks may cancel orders' --replay decisions.jsonl.gz --key ~/.ssh/id_ed25519",
    "postern policy propose r-3f2a9c81d604 -m 'incident 12: back to last week' --key ann.pem",
  ],
} as const satisfies CommandSpec

export const approveSpec = {
  name: 'policy approve',
  summary: 'review a proposal and sign it',
  details: `Verifies the stored policy, shows who proposed it and why, and what it changes compared with its
predecessor, runs the tests of policy.directory and a replay, then asks and signs. With policy.trust, the
predecessor must be signed too. Refuses a proposal whose predecessor is not live any more or not signed by
enough keys, a key that policy.trust does not list, and a second signature of one key.

With --gateway, the private key stays on your machine: the command reads the policy and its predecessor from
the console, verifies both with policy.trust of your configuration, compares them there, and sends only the
signature.`,
  usage: ['REVISION (--key FILE | --signature TEXT) [OPTIONS]'],
  arguments: [
    { name: 'REVISION', description: 'proposed revision; its first 12 hex digits are enough' },
  ],
  options: {
    key: { ...keyOption.key, description: 'sign with this private key' },
    signature: {
      value: 'TEXT',
      description:
        'a signature that was made elsewhere, over "statement" of "policy proposals REVISION --output json": the base64 text of an SSH signature, in one line',
    },
    base: {
      value: 'DIR|git:REF',
      description:
        'compare with your own copy of the policy that the proposal follows, where Redis lost it or its signatures do not count',
    },
    replay: {
      ...replayOption.replay,
      description:
        'show which decisions of this decision log would change (default: logger.decisions.file, if it exists here)',
    },
    'allow-failed-tests': { description: 'sign although tests of policy.directory fail' },
    yes: { short: 'y', description: 'sign without asking' },
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'signed',
    1: 'not signed: stale, altered, not comparable, signed already, or the key is not trusted',
    3: 'the configuration or the key is not valid',
    4: 'a test of policy.directory fails with this policy',
    5: 'Redis is unreachable, or the proposal does not exist',
  },
  examples: [
    'postern policy approve r-3f2a9c81d604 --key ben.pem',
    'postern policy approve r-3f2a9c81d604 --key ~/.ssh/id_ed25519',
  ],
} as const satisfies CommandSpec

export const proposalsSpec = {
  name: 'policy proposals',
  summary: 'list the proposals and who has signed them, or show one',
  details: `With a REVISION, also shows what it would change compared with the live policy. Dropping a proposal
does not revoke its signatures: someone who copied it can use them until another policy is live.`,
  arguments: [
    {
      name: 'REVISION',
      optional: true,
      description: 'show this proposal; its first 12 hex digits are enough',
    },
  ],
  options: {
    drop: { value: 'REVISION', description: 'remove this proposal' },
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'listed, shown or dropped',
    1: 'the proposal is damaged or was altered in Redis',
    3: 'the configuration is not valid',
    5: 'Redis is unreachable, or the proposal does not exist',
  },
  examples: [
    'postern policy proposals',
    'postern policy proposals r-3f2a9c81d604',
    'postern policy proposals --drop r-3f2a9c81d604',
    'postern policy proposals --output json | jq -r \'.[] | select(.state == "approved") | .revision\'',
  ],
} as const satisfies CommandSpec
