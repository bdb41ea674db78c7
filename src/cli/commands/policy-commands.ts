import type { Command } from '../io.ts'
import { later } from '../lazy-command.ts'

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
  'policy check': later(async () => (await import('../policy/check.ts')).policyCheck),
  'policy test': later(async () => (await import('../policy/test.ts')).policyTest),
  'policy explain': later(async () => (await import('../policy/explain.ts')).policyExplain),
  'policy diff': later(async () => (await import('../policy/diff.ts')).policyDiff),
  'policy push': later(async () => (await import('../publish/push.ts')).policyPush),
  'policy pull': later(async () => (await import('../publish/pull.ts')).policyPull),
  'policy status': later(async () => (await import('../publish/status.ts')).policyStatus),
  'policy history': later(async () => (await import('../publish/history.ts')).policyHistory),
  'policy rollback': later(async () => (await import('../publish/rollback.ts')).policyRollback),
  'policy import': later(async () => (await import('../policy/import.ts')).policyImport),
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
