import { count } from '../../kernel/count.ts'
import type { AskedPolicy } from './asked-policy.ts'

/** Why an answer may miss something. */
export function inexact({ policies }: AskedPolicy, unasked = 0): readonly string[] {
  if (policies.set.model.casbin === undefined) {
    return ['some patterns have too many cases: not all were examined']
  }
  return [
    'Casbin evaluates this model, and only its matcher knows what a rule means: the answer is about one example call for each rule',
    ...(unasked === 0
      ? []
      : [
          `${count(unasked, 'rule has', 'rules have')} no example, or would take too long: ask "postern policy who" about single calls`,
        ]),
  ]
}
