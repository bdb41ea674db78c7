import * as policy from '../../operations/policy/policy.ts'
import * as publish from '../../operations/publish/publish.ts'
import { type Command, linesOption, outputIn, reportOption } from '../command.ts'
import { followSpec } from '../follow/specs.ts'
import help from '../help-texts/policy.json' with { type: 'json' }
import { commandsWith, partsOf } from './operation-command.ts'
import { command } from './run-command.ts'

const show = commandsWith(help)
const publishViews = partsOf(() => import('../publish/views.ts'))
const prompts = partsOf(() => import('../publish/prompts.ts'))
const questions = partsOf(() => import('../questions/views.ts'))

const tableOption = outputIn(['text', 'json', 'csv'])

/** `--gateway` shows with it what the push of a directory changes. */
export const diff = show(policy.policyDiff, {
  arguments: ['from', 'to'],
  output: reportOption,
  view: async () => (await import('../policy/diff-view.ts')).policyDiffView,
})

/** `--gateway` proposes a directory before it pushes it. */
export const propose = show(publish.policyPropose, {
  arguments: ['dir'],
  view: publishViews('policyProposeView'),
  prompt: prompts('policyProposePrompt'),
})

const drop = show(publish.policyProposalDrop, { view: publishViews('policyProposalDropView') })

const endShadow = show(publish.policyShadowEnd, {
  arguments: ['end'],
  view: publishViews('policyShadowEndView'),
})

export const policyCommands: readonly Command[] = [
  show(policy.policyCheck, {
    arguments: ['dir'],
    output: reportOption,
    view: async () => (await import('../policy/check-view.ts')).policyCheckView,
  }),
  show(policy.policyTest, {
    arguments: ['dir'],
    output: reportOption,
    view: async () => (await import('../policy/test-view.ts')).policyTestView,
  }),
  show(policy.policyExplain, {
    arguments: ['role', 'method', 'path'],
    view: questions('policyExplainView'),
  }),
  show(policy.policyBlame, {
    arguments: ['role', 'method', 'path'],
    view: async () => (await import('../questions/blame-view.ts')).policyBlameView,
  }),
  show(policy.policyWho, {
    arguments: ['method', 'path'],
    output: tableOption,
    view: async () => (await import('../questions/who-view.ts')).policyWhoView,
  }),
  show(policy.policyCan, {
    arguments: ['role'],
    output: tableOption,
    view: async () => (await import('../questions/can-view.ts')).policyCanView,
  }),
  show(policy.policySimulate, {
    output: tableOption,
    view: async () => (await import('../questions/comparison.ts')).policySimulateView,
  }),
  show(policy.policyGuard, { view: questions('policyGuardView') }),
  show(policy.policyOpen, {
    view: async () => (await import('../questions/open-view.ts')).policyOpenView,
  }),
  show(policy.policyMatrix, {
    outputBefore: 'compact',
    output: outputIn(['text', 'json', 'csv', 'markdown', 'html']),
    view: async () => (await import('../questions/matrix/matrix-view.ts')).policyMatrixView,
  }),
  show(policy.policyNames, { view: questions('policyNamesView') }),
  show(policy.policyFiles, { arguments: ['revision'], view: questions('policyFilesView') }),
  show(policy.policyCoverage, {
    arguments: ['document'],
    output: reportOption,
    view: async () => (await import('../questions/coverage-view.ts')).policyCoverageView,
  }),
  show(policy.policyUnused, {
    view: async () => (await import('../evidence/usage/unused-view.ts')).policyUnusedView,
  }),
  show(policy.policyDenials, {
    view: async () => (await import('../evidence/usage/denials-view.ts')).policyDenialsView,
  }),
  diff,
  show(policy.policyReplay, {
    arguments: ['file'],
    output: reportOption,
    outputBefore: 'config',
    view: async () => (await import('../evidence/replay/replay-view.ts')).policyReplayView,
  }),
  propose,
  show(publish.policyProposals, {
    arguments: ['revision'],
    instead: { drop },
    view: publishViews('policyProposalsView'),
  }),
  show(publish.policyApprove, {
    arguments: ['revision'],
    view: publishViews('policyApproveView'),
    prompt: prompts('policyApprovePrompt'),
  }),
  show(publish.policyPush, {
    arguments: ['revision'],
    view: publishViews('policyPushView'),
    prompt: prompts('policyPushPrompt'),
  }),
  show(publish.policyShadow, {
    instead: { end: endShadow },
    view: publishViews('policyShadowView'),
  }),
  show(publish.policyPromote, {
    arguments: ['revision'],
    view: publishViews('policyPromoteView'),
    prompt: prompts('policyPromotePrompt'),
  }),
  show(publish.policyPull, {
    arguments: ['revision', 'dir'],
    view: publishViews('policyPullView'),
  }),
  show(publish.policyStatus, { view: publishViews('policyStatusView') }),
  show(policy.policyHistory, { output: linesOption, view: publishViews('policyHistoryView') }),
  show(publish.policyRollback, {
    arguments: ['revision'],
    view: publishViews('policyRollbackView'),
    prompt: prompts('policyRollbackPrompt'),
  }),
  show(policy.policyImport, {
    arguments: ['source', 'dir'],
    view: async () => (await import('../policy/import-view.ts')).policyImportView,
  }),
  command(followSpec, async () => (await import('../follow/follow.ts')).policyFollow),
]
