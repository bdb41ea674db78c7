import * as policy from '../../operations/policy/policy.ts'
import * as publish from '../../operations/publish/publish.ts'
import { type Command, linesOption, outputIn, reportOption } from '../command.ts'
import { followSpec } from '../follow/specs.ts'
import help from '../help-texts/policy.json' with { type: 'json' }
import { operationCommand } from './operation-command.ts'

import { command } from './run-command.ts'

const publishViews = () => import('../publish/views.ts')
const prompts = () => import('../publish/prompts.ts')
const shadowViews = () => import('../publish/shadow-view.ts')

const tableOption = outputIn(['text', 'json', 'csv'])
const beforePolicies = { outputBefore: 'policies' } as const

/** `--gateway` shows with it what the push of a directory changes. */
export const diff = operationCommand(policy.policyDiff, {
  ...{ ...help['policy diff'], arguments: ['from', 'to'], output: reportOption },
  view: async () => (await import('../policy/diff-view.ts')).policyDiffView,
})

/** `--gateway` proposes a directory before it pushes it. */
export const propose = operationCommand(publish.policyPropose, {
  ...{ ...help['policy propose'], arguments: ['dir'] },
  view: async () => (await publishViews()).policyProposeView,
  prompt: async () => (await prompts()).policyProposePrompt,
})

const drop = operationCommand(publish.policyProposalDrop, {
  ...help['policy proposals'],
  view: async () => (await publishViews()).policyProposalDropView,
})

const endShadow = operationCommand(publish.policyShadowEnd, {
  ...{ ...help['policy shadow'], arguments: ['end'] },
  view: async () => (await shadowViews()).policyShadowEndView,
})

export const policyCommands: readonly Command[] = [
  operationCommand(policy.policyCheck, {
    ...{ ...help['policy check'], arguments: ['dir'], output: reportOption },
    view: async () => (await import('../policy/check-view.ts')).policyCheckView,
  }),
  operationCommand(policy.policyTest, {
    ...{ ...help['policy test'], arguments: ['dir'], output: reportOption },
    view: async () => (await import('../policy/test-view.ts')).policyTestView,
  }),
  operationCommand(policy.policyExplain, {
    ...{ ...help['policy explain'], arguments: ['role', 'method', 'path'], ...beforePolicies },
    view: async () => (await import('../questions/explain-view.ts')).policyExplainView,
  }),
  operationCommand(policy.policyWho, {
    ...{ ...help['policy who'], arguments: ['method', 'path'], ...beforePolicies },
    output: tableOption,
    view: async () => (await import('../questions/who-view.ts')).policyWhoView,
  }),
  operationCommand(policy.policyCan, {
    ...{ ...help['policy can'], arguments: ['role'], ...beforePolicies },
    output: tableOption,
    view: async () => (await import('../questions/can-view.ts')).policyCanView,
  }),
  operationCommand(policy.policySimulate, {
    ...{ ...help['policy simulate'], ...beforePolicies },
    output: tableOption,
    view: async () => (await import('../questions/comparison.ts')).policySimulateView,
  }),
  operationCommand(policy.policyGuard, {
    ...{ ...help['policy guard'], ...beforePolicies },
    view: async () => (await import('../questions/guard-view.ts')).policyGuardView,
  }),
  operationCommand(policy.policyOpen, {
    ...{ ...help['policy open'], ...beforePolicies },
    view: async () => (await import('../questions/open-view.ts')).policyOpenView,
  }),
  operationCommand(policy.policyMatrix, {
    ...{ ...help['policy matrix'], outputBefore: 'compact' },
    output: outputIn(['text', 'json', 'csv', 'markdown', 'html']),
    view: async () => (await import('../questions/matrix/matrix-view.ts')).policyMatrixView,
  }),
  operationCommand(policy.policyNames, {
    ...{ ...help['policy names'], ...beforePolicies },
    view: async () => (await import('../questions/names-view.ts')).policyNamesView,
  }),
  operationCommand(policy.policyFiles, {
    ...{ ...help['policy files'], arguments: ['revision'] },
    view: async () => (await import('../questions/files-view.ts')).policyFilesView,
  }),
  operationCommand(policy.policyCoverage, {
    ...{ ...help['policy coverage'], arguments: ['document'], ...beforePolicies },
    output: reportOption,
    view: async () => (await import('../questions/coverage-view.ts')).policyCoverageView,
  }),
  operationCommand(policy.policyUnused, {
    ...{ ...help['policy unused'], ...beforePolicies },
    view: async () => (await import('../evidence/usage/unused-view.ts')).policyUnusedView,
  }),
  operationCommand(policy.policyDenials, {
    ...{ ...help['policy denials'], ...beforePolicies },
    view: async () => (await import('../evidence/usage/denials-view.ts')).policyDenialsView,
  }),
  diff,
  operationCommand(policy.policyReplay, {
    ...{ ...help['policy replay'], arguments: ['file'], output: reportOption },
    view: async () => (await import('../evidence/replay/replay-view.ts')).policyReplayView,
  }),
  propose,
  operationCommand(publish.policyProposals, {
    ...{ ...help['policy proposals'], arguments: ['revision'], instead: { drop } },
    view: async () => (await publishViews()).policyProposalsView,
  }),
  operationCommand(publish.policyApprove, {
    ...{ ...help['policy approve'], arguments: ['revision'] },
    view: async () => (await publishViews()).policyApproveView,
    prompt: async () => (await prompts()).policyApprovePrompt,
  }),
  operationCommand(publish.policyPush, {
    ...{ ...help['policy push'], arguments: ['revision'] },
    view: async () => (await publishViews()).policyPushView,
    prompt: async () => (await prompts()).policyPushPrompt,
  }),
  operationCommand(publish.policyShadow, {
    ...{ ...help['policy shadow'], instead: { end: endShadow } },
    view: async () => (await shadowViews()).policyShadowView,
  }),
  operationCommand(publish.policyPromote, {
    ...{ ...help['policy promote'], arguments: ['revision'] },
    view: async () => (await publishViews()).policyPromoteView,
    prompt: async () => (await prompts()).policyPromotePrompt,
  }),
  operationCommand(publish.policyPull, {
    ...{ ...help['policy pull'], arguments: ['revision', 'dir'] },
    view: async () => (await publishViews()).policyPullView,
  }),
  operationCommand(publish.policyStatus, {
    ...help['policy status'],
    view: async () => (await import('../publish/status-view.ts')).policyStatusView,
  }),
  operationCommand(policy.policyHistory, {
    ...{ ...help['policy history'], output: linesOption },
    view: async () => (await import('../publish/history-view.ts')).policyHistoryView,
  }),
  operationCommand(publish.policyRollback, {
    ...{ ...help['policy rollback'], arguments: ['revision'] },
    view: async () => (await publishViews()).policyRollbackView,
    prompt: async () => (await prompts()).policyRollbackPrompt,
  }),
  operationCommand(policy.policyImport, {
    ...{ ...help['policy import'], arguments: ['source', 'dir'] },
    view: async () => (await import('../policy/import-view.ts')).policyImportView,
  }),
  command(followSpec, async () => (await import('../follow/follow.ts')).policyFollow),
]
