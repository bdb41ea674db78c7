import type { CallRefusal } from '../../admission/verdict.ts'
import { Type } from '../../config/schema/type.ts'
import type { Finding } from '../../policy/review/finding.ts'
import { flag, list, number, text, whole, word } from '../schema.ts'

export const call = { method: text, path: text } as const
export const origin = Type.Object({ file: text, line: whole }, { title: 'Origin' })
/** A date, or a time where it is not the start of a day. */
const until = Type.Optional(text)

/** A `p` line. */
const line = {
  ...{ roleKey: text, ...call, effect: word('allow', 'deny'), origin },
  ...{ fields: Type.Optional(list(text)), domain: Type.Optional(text) },
} as const
const { origin: _, ...columns } = line

export { columns }
export const rule = Type.Object({ ...line, until }, { title: 'Rule' })

/** In what a rule that nearly matches differs. */
export const differs = word('method', 'role', 'domain', 'inheritance', 'expired')

/** A rule that applies to a role, and the roles between. */
export const held = { rule, via: list(text), until } as const

/** An entry of the exclusion list. */
export const exclusion = Type.Object(
  { ...call, reason: text, origin, until },
  { title: 'Exclusion' },
)

const wrong = {
  ...{ file: text, line: Type.Optional(whole), column: Type.Optional(whole) },
  ...{ message: text, fix: Type.Optional(text) },
} as const

/** What is wrong with a file. */
export const problem = Type.Object(wrong, { title: 'FileProblem' })

/** What is doubtful in a policy. */
export const finding = Type.Object(
  { ...wrong, code: word<Finding['code']>(), related: Type.Optional(list(origin)) },
  { title: 'Finding' },
)

/** Which engine decides by a policy. `outsideIndex` names the parts of the model that need Casbin; `cost` is measured then. */
export const engine = Type.Object({
  ...{ name: word('index', 'casbin'), reason: text },
  outsideIndex: Type.Optional(list(text)),
  cost: Type.Optional(Type.Object({ msPerDecision: number, decisions: whole, rules: whole })),
})

/** What every answer about a policy ends with. */
export const about = { policy: text, revision: text, notes: list(text) } as const

const need = word('nothing', 'identity')
export const access = word('permitted', 'authenticated', 'public')

/** A route of the configuration with all that it says. */
export const route = Type.Object(
  {
    ...{ path: text, access, name: Type.Optional(text), upstream: Type.Optional(text) },
    ...{ match: Type.Optional(word('prefix', 'exact')), hosts: Type.Optional(list(text)) },
    ...{
      methods: Type.Optional(list(text)),
      respond: Type.Optional(Type.Object({}, { additionalProperties: true })),
    },
  },
  { additionalProperties: true, title: 'Route' },
)

const withoutEffect = Type.Union([
  Type.Object({ why: Type.Literal('refused'), refusal: Type.Optional(word<CallRefusal>()) }),
  Type.Object({ why: Type.Literal('unserved') }),
  Type.Object({ why: Type.Literal('own-endpoint'), need }),
  Type.Object({ why: Type.Literal('open-route'), need, path: text }),
  Type.Object({ why: Type.Literal('earlier-entry'), exclusion }),
])

/** What needs no permission. */
export const open = {
  endpoints: list(
    Type.Object({ by: text, need, ...call, reason: text, upstream: Type.Optional(text) }),
  ),
  routes: list(
    Type.Object(
      {
        ...{ by: text, need, path: text, covers: text, methods: Type.Optional(list(text)) },
        ...{ reason: Type.Optional(text), upstream: Type.Optional(text), isFixedResponse: flag },
        except: list(Type.Object({ path: text, access })),
      },
      { title: 'OpenRoute' },
    ),
  ),
  exclusions: list(
    Type.Object(
      {
        ...{ exclusion, effect: word('whole', 'partly', 'none') },
        reasons: Type.Array(withoutEffect, {
          description: 'Why some or all of its calls would be answered the same without it.',
        }),
      },
      { title: 'ExclusionEffect' },
    ),
  ),
  areRoutesKnown: flag,
} as const
