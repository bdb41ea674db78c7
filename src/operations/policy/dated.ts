import { formatUntil } from '../../policy/rule/until.ts'

/** What a document has of a value: dates of lines that expire as in the policy files, nothing undefined. */
type Dated<Value> = Value extends readonly (infer Item)[]
  ? readonly Dated<Item>[]
  : Value extends object
    ? {
        readonly [Key in keyof Value as undefined extends Value[Key] ? never : Key]: Member<
          Value,
          Key
        >
      } & {
        readonly [Key in keyof Value as undefined extends Value[Key] ? Key : never]?: Member<
          Value,
          Key
        >
      }
    : Value

type Member<Value, Key extends keyof Value> = Key extends 'until'
  ? string
  : Dated<Exclude<Value[Key], undefined>>

/** The document of an answer. What was one object stays one: a rule is in it many times. */
export function dated<Value>(value: Value): Dated<Value> {
  const known = new Map<object, unknown>()
  const copy = (each: unknown): unknown => {
    if (typeof each !== 'object' || each === null) return each
    const made = known.get(each) ?? (Array.isArray(each) ? each.map(copy) : members(each))
    known.set(each, made)
    return made
  }
  const members = (each: object) => {
    const present = Object.entries(each).filter(([, member]) => member !== undefined)
    return Object.fromEntries(
      present.map(([name, member]) => {
        const isTime = name === 'until' && typeof member === 'number'
        return [name, isTime ? formatUntil(member) : copy(member)]
      }),
    )
  }
  return copy(value) as Dated<Value>
}
