import { formatUntil } from '../../policy/rule/until.ts'
import { json } from '../format.ts'

/** A JSON document in which the times of lines that expire are dates, as in the policy files. */
export function datedJson(value: unknown): string {
  return json(value, (key, each) =>
    key === 'until' && typeof each === 'number' ? formatUntil(each) : each,
  )
}
