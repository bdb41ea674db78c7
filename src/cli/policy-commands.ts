import type { Command } from './io.ts'
import { policyCheck } from './policy-check.ts'
import { policyDiff } from './policy-diff.ts'
import { policyExplain } from './policy-explain.ts'
import { policyHistory } from './policy-history.ts'
import { policyImport } from './policy-import.ts'
import { policyPull } from './policy-pull.ts'
import { policyPush } from './policy-push.ts'
import { policyRollback } from './policy-rollback.ts'
import { policyStatus } from './policy-status.ts'
import { policyTest } from './policy-test.ts'

/** One line for each command, as the usage text has them. */
export const policyUsage = `  postern policy check [DIR]             can this policy be used? what is doubtful in it?
  postern policy test [DIR]              run its tests; exit 4 if one fails
  postern policy explain ROLE METHOD PATH  may this role make this call, and why?
  postern policy diff [FROM [TO]]        who gains or loses which access; exit 1 if it widens
  postern policy push -m WHY [DIR]       check, test, show the difference, publish
  postern policy pull [REVISION] [DIR]   bring a published policy back into files
  postern policy status                  which replica decides by which revision
  postern policy history                 who published what, when and why
  postern policy rollback REVISION       put an old revision in force again
  postern policy import FROM DIR         take a policy over from go-admin or casbin
`

/** Every policy command, by its two words; `policy` alone lists them. */
export const policyCommands: Readonly<Record<string, Command>> = {
  'policy check': policyCheck,
  'policy test': policyTest,
  'policy explain': policyExplain,
  'policy diff': policyDiff,
  'policy push': policyPush,
  'policy pull': policyPull,
  'policy status': policyStatus,
  'policy history': policyHistory,
  'policy rollback': policyRollback,
  'policy import': policyImport,
  policy: async ([first], io) => {
    const text = `${policyUsage}\nEach one has examples: postern policy check --help\n`
    if (first === '--help' || first === '-h') {
      io.out(text)
      return 0
    }
    io.err(first === undefined ? text : `postern: no such command: policy ${first}\n\n${text}`)
    return 2
  },
}
