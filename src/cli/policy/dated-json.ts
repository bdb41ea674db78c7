import { formatUntil } from '../../policy/rule/until.ts'

/** A JSON document in which the times of lines that expire are dates, as in the policy files. */
export function datedJson(value: unknown): string {
  const dated = (key: string, each: unknown) =>
    key === 'until' && typeof each === 'number' ? formatUntil(each) : each
  return `${JSON.stringify(value, dated, 2)}\n`
}
