import { methodsOf } from '../../policy/rule/methods.ts'
import { ANY_METHOD } from '../../policy/rule/rule.ts'

/** Whether the method column of a rule matches a method. */
export function matchesMethod(column: string, method: string): boolean {
  return methodsOf(column).some((each) => each === method || each === ANY_METHOD)
}
