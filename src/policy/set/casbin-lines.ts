import { valueProblem } from '../model/casbin-values.ts'
import type { CasbinModel } from '../model/columns.ts'
import { type Effect, nameProblem, quote } from '../rule/rule.ts'
import { createInterner } from './interner.ts'
import { badFields, badLine, type LineReader } from './line-reader.ts'

/** Reads lines under a model that Casbin evaluates: `p` with its columns, `g`, `g2` and so on. */
export function createCasbinLineReader({
  request,
  domain: domainName,
  columns,
  relations,
  effect: weighing,
}: CasbinModel): LineReader {
  const texts = columns.map((column) =>
    createInterner((text) => valueProblem(column, text) === undefined),
  )
  const names = createInterner((text) => nameProblem('name', text) === undefined)
  const at = (name: string) => columns.findIndex((column) => column.name === name)
  const [roleAt, pathAt, methodAt] = [at(request[0]), at(request[1]), at(request[2])]
  const effectAt = at('eft')
  const domainAt = domainName === undefined ? -1 : at(domainName)
  const form = ['p', ...columns.map(({ name }) => name)].join(', ')

  return {
    forms: `write "${form}"${relations.map(({ name, places }) => ` or "${name}" and ${places} names`).join('')}`,

    readRule([, ...given], origin) {
      // Casbin treats a rule without an effect as one that allows.
      const short = effectAt === columns.length - 1 && given.length === effectAt
      const values = short ? [...given, 'allow'] : given
      if (values.length !== columns.length) {
        return badLine(`${given.length + 1} columns: write "${form}"`, columns.length + 1)
      }
      const effect = values[effectAt] ?? 'allow'
      const ignored =
        effect === 'deny' && weighing === 'allow'
          ? 'the policy_effect of the model ignores deny: append "&& !some(where (p.eft == deny))"'
          : undefined
      const fields = values.flatMap((value, index) => texts[index]?.intern(value) ?? [])
      if (fields.length < columns.length || ignored !== undefined) {
        return badFields(
          columns.map((column, index) =>
            index === effectAt && ignored !== undefined
              ? ignored
              : valueProblem(column, values[index] ?? ''),
          ),
        )
      }
      return Object.freeze({
        roleKey: fields[roleAt] ?? '',
        path: fields[pathAt] ?? '',
        method: fields[methodAt] ?? '',
        effect: effect as Effect,
        origin,
        fields: Object.freeze(fields),
        ...(domainAt !== -1 && { domain: fields[domainAt] ?? '' }),
      })
    },

    readInheritance([type = '', ...given], origin) {
      const relation = relations.find(({ name }) => name === type)
      if (relation === undefined) {
        return badLine(
          `${quote(type)} is not defined in the model: add [role_definition] "${type} = _, _"`,
        )
      }
      if (given.length !== relation.places) {
        return badLine(
          `${given.length + 1} columns: write ${quote(type)} and ${relation.places} names`,
          relation.places + 1,
        )
      }
      const places = given.flatMap((name) => names.intern(name) ?? [])
      if (places.length < given.length) {
        return badFields(given.map((name) => nameProblem('name', name)))
      }
      const [roleKey = '', parentKey = '', domain] = places
      return Object.freeze({
        roleKey,
        parentKey,
        origin,
        ...(type === 'g' ? {} : { relation: type }),
        ...(domain === undefined ? {} : { domain }),
      })
    },
  }
}
