import { json, policyCommand } from '../command.ts'
import { policySettings } from '../settings.ts'
import { compareAccess, formatAccess } from './access.ts'
import { readVersion } from './versions.ts'

const help = `usage: postern policy diff [FROM [TO]] [--output text|json] [--config FILE]

Compares access, not lines: which role gains (+) or loses (-) which method on which path, and which
endpoints are reachable without a permission check now. FROM and TO are each a directory, a revision
or live. A rule that a wider one already covered is no gain. Needs no network unless a revision or
live is named.

  postern policy diff                               live -> the directory of the configuration
  postern policy diff r-3f2a9c81d604                a revision -> that directory
  postern policy diff policies ../new-policies
  postern policy diff r-3f2a9c81d604 live
  git worktree add ../main main && postern policy diff ../main/policies policies

Exit codes: 0 the same or narrower, 1 access widens, 2 bad arguments, 3 a policy cannot be used.
`

/** Says what callers can do by one policy and not by another. */
export const policyDiff = policyCommand(
  { help, options: {}, positionals: [0, 2] },
  async ({ values, positionals: [from = 'live', to], output }, io) => {
    const settings = policySettings(values.config, io)
    const before = await readVersion(from, settings, io)
    const after = await readVersion(to ?? settings.directory, settings, io)

    const diff = compareAccess(before.set, after.set, io)

    io.out(output === 'json' ? json(diff) : formatAccess(diff))
    return diff.widened ? 1 : 0
  },
)
