import * as publish from '../../operations/publish/publish.ts'
import { operationCommand } from './operation-command.ts'

const views = () => import('../publish/views.ts')
const asking = () => import('../publish/asking.ts')

const published = {
  0: 'published and active on every replica (with --no-wait: published)',
  1: 'not published, not signed by enough keys, or replicas are behind, lost or unknown',
  3: 'the configuration is not valid',
} as const

export const propose = operationCommand(publish.policyPropose, {
  arguments: ['dir'],
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
  view: async () => (await views()).policyProposeView,
  asking: async () => (await asking()).policyProposeAsking,
})

const proposalCodes = {
  0: 'listed, shown or dropped',
  1: 'the proposal is damaged or was altered in Redis',
  3: 'the configuration is not valid',
  5: 'Redis is unreachable, or the proposal does not exist',
} as const

const drop = operationCommand(publish.policyProposalDrop, {
  ...{ exitCodes: proposalCodes, examples: [] },
  view: async () => (await views()).policyProposalDropView,
})

export const proposals = operationCommand(publish.policyProposals, {
  ...{ arguments: ['revision'], instead: { drop } },
  exitCodes: proposalCodes,
  examples: [
    'postern policy proposals',
    'postern policy proposals r-3f2a9c81d604',
    'postern policy proposals --drop r-3f2a9c81d604',
    'postern policy proposals --output json | jq -r \'.[] | select(.state == "approved") | .revision\'',
  ],
  view: async () => (await views()).policyProposalsView,
})

export const approve = operationCommand(publish.policyApprove, {
  usage: ['REVISION (--key FILE | --signature TEXT) [OPTIONS]'],
  arguments: ['revision'],
  exitCodes: {
    0: 'signed',
    1: 'not signed: stale, altered, not comparable, signed already, or the key is not trusted',
    3: 'the policy, the configuration or the key is not valid',
    4: 'a test of policy.directory fails with this policy',
    5: 'Redis is unreachable, or the proposal does not exist',
  },
  examples: [
    'postern policy approve r-3f2a9c81d604 --key ben.pem',
    'postern policy approve r-3f2a9c81d604 --key ~/.ssh/id_ed25519',
  ],
  view: async () => (await views()).policyApproveView,
  asking: async () => (await asking()).policyApproveAsking,
})

export const push = operationCommand(publish.policyPush, {
  arguments: ['revision'],
  exitCodes: {
    ...published,
    3: 'the policy or the configuration is not valid',
    4: 'a test failed, or the directory has no tests',
    5: 'Redis is unreachable, does not confirm what was published, or the proposal does not exist',
  },
  examples: [
    "postern policy push -m 'clerks may cancel orders'",
    "postern policy push -m 'clerks may cancel orders' --key ann.pem",
    'postern policy push r-3f2a9c81d604',
    "postern policy push -m 'release 7' ../policies --yes --author ci --over r-3f2a9c81d604 --replicas 12",
    "postern policy push -m 'clerks may cancel orders' --shadow  # then: postern policy shadow",
    "postern policy push -m 'release 7' ../policies --dry-run  # for a pull request",
    "postern policy push -m 'incident 12: admin only' ../empty --allow-empty",
    "POSTERN_REDIS__URL=redis://redis:6379 postern policy push -m 'first policy' --no-wait",
  ],
  view: async () => (await views()).policyPushView,
  asking: async () => (await asking()).policyPushAsking,
})

const shadowCodes = {
  0: 'listed or ended',
  1: 'no shadow runs',
  3: 'the configuration is not valid',
  5: 'Redis is unreachable',
} as const

const end = operationCommand(publish.policyShadowEnd, {
  ...{ arguments: ['end'], exitCodes: shadowCodes, examples: [] },
  view: async () => (await import('../publish/shadow-view.ts')).policyShadowEndView,
})

export const shadow = operationCommand(publish.policyShadow, {
  ...{ usage: ['[end] [OPTIONS]'], instead: { end } },
  exitCodes: shadowCodes,
  examples: [
    'postern policy shadow',
    'postern policy shadow --output json | jq \'.disagreements[] | select(.would == "deny")\'',
    'postern policy shadow end',
  ],
  view: async () => (await import('../publish/shadow-view.ts')).policyShadowView,
})

export const promote = operationCommand(publish.policyPromote, {
  arguments: ['revision'],
  exitCodes: {
    ...published,
    1: 'not published: no such shadow, not enough evidence or signatures; or replicas are behind',
    3: 'the policy or the configuration is not valid',
    5: 'Redis is unreachable or does not confirm what was published',
  },
  examples: [
    'postern policy promote r-3f2a9c81d604 --after 1h',
    'postern policy promote r-3f2a9c81d604 --after 1d --max-would-deny 3 --yes',
  ],
  view: async () => (await views()).policyPromoteView,
  asking: async () => (await asking()).policyPromoteAsking,
})

export const pull = operationCommand(publish.policyPull, {
  usage: ['[REVISION|live] [DIR] [OPTIONS]'],
  arguments: ['revision', 'dir'],
  exitCodes: {
    0: 'written, or already up to date',
    1: 'not written: the directory has other files',
    3: 'the configuration is not valid',
    5: 'Redis is unreachable, nothing is published, or the revision does not exist',
  },
  examples: [
    'postern policy pull',
    'postern policy pull r-3f2a9c81d604 ../before',
    'postern policy pull live policies --force',
  ],
  view: async () => (await views()).policyPullView,
})

export const status = operationCommand(publish.policyStatus, {
  exitCodes: {
    0: 'every known replica uses the live revision',
    1: 'replicas are behind, lost or unknown, or nothing is published',
    3: 'the configuration is not valid',
    5: 'Redis is unreachable',
  },
  examples: [
    'postern policy status',
    'postern policy status --forget gw-7-3fa91c',
    'watch -n 2 postern policy status',
    "postern policy status --output json | jq -r '.replicas[] | select(.lost) | .id'",
  ],
  view: async () => (await import('../publish/status-view.ts')).policyStatusView,
})

export const rollback = operationCommand(publish.policyRollback, {
  arguments: ['revision'],
  exitCodes: {
    ...published,
    5: 'Redis is unreachable or does not confirm, or the revision does not exist',
  },
  examples: [
    'postern policy rollback r-3f2a9c81d604',
    "postern policy rollback r-3f2a9c81d604 -m 'incident 12' --yes --author oncall",
    'postern policy rollback r-3f2a9c81d604 --key ann.pem',
  ],
  view: async () => (await views()).policyRollbackView,
  asking: async () => (await asking()).policyRollbackAsking,
})
