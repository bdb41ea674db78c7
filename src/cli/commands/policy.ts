import type { Command } from '../command.ts'
import { replaySpec } from '../evidence/replay/specs.ts'
import { denialsSpec, unusedSpec } from '../evidence/usage/specs.ts'
import { followSpec } from '../follow/specs.ts'
import { checkSpec, diffSpec, importSpec, testSpec } from '../policy/specs.ts'
import { approveSpec, proposalsSpec, proposeSpec } from '../publish/approval-specs.ts'
import { promoteSpec, shadowSpec } from '../publish/shadow-specs.ts'
import { historySpec, pullSpec, pushSpec, rollbackSpec, statusSpec } from '../publish/specs.ts'
import { coverageSpec } from '../questions/coverage/specs.ts'
import { filesSpec } from '../questions/files/specs.ts'
import { namesSpec } from '../questions/names/specs.ts'
import { canSpec, explainSpec, matrixSpec, openSpec, whoSpec } from '../questions/specs.ts'
import { command } from './run-command.ts'

export const policyCommands: readonly Command[] = [
  command(checkSpec, async () => (await import('../policy/check.ts')).policyCheck),
  command(testSpec, async () => (await import('../policy/test.ts')).policyTest),
  command(explainSpec, async () => (await import('../questions/explain.ts')).policyExplain),
  command(whoSpec, async () => (await import('../questions/who.ts')).policyWho),
  command(canSpec, async () => (await import('../questions/can.ts')).policyCan),
  command(openSpec, async () => (await import('../questions/open.ts')).policyOpen),
  command(matrixSpec, async () => (await import('../questions/matrix/matrix.ts')).policyMatrix),
  command(namesSpec, async () => (await import('../questions/names/names.ts')).policyNames),
  command(filesSpec, async () => (await import('../questions/files/files.ts')).policyFiles),
  command(
    coverageSpec,
    async () => (await import('../questions/coverage/coverage.ts')).policyCoverage,
  ),
  command(unusedSpec, async () => (await import('../evidence/usage/unused.ts')).policyUnused),
  command(denialsSpec, async () => (await import('../evidence/usage/denials.ts')).policyDenials),
  command(diffSpec, async () => (await import('../policy/diff.ts')).policyDiff),
  command(replaySpec, async () => (await import('../evidence/replay/replay.ts')).policyReplay),
  command(proposeSpec, async () => (await import('../publish/propose.ts')).policyPropose),
  command(proposalsSpec, async () => (await import('../publish/proposals.ts')).policyProposals),
  command(approveSpec, async () => (await import('../publish/approve.ts')).policyApprove),
  command(pushSpec, async () => (await import('../publish/push.ts')).policyPush),
  command(shadowSpec, async () => (await import('../publish/shadow.ts')).policyShadow),
  command(promoteSpec, async () => (await import('../publish/promote.ts')).policyPromote),
  command(pullSpec, async () => (await import('../publish/pull.ts')).policyPull),
  command(statusSpec, async () => (await import('../publish/status.ts')).policyStatus),
  command(historySpec, async () => (await import('../publish/history.ts')).policyHistory),
  command(rollbackSpec, async () => (await import('../publish/rollback.ts')).policyRollback),
  command(importSpec, async () => (await import('../policy/import.ts')).policyImport),
  command(followSpec, async () => (await import('../follow/follow.ts')).policyFollow),
]
