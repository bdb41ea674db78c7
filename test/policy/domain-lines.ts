import fc from 'fast-check'

const role = fc.constantFrom('ann', 'bob', 'lead', 'staff', 'root')
const domain = fc.constantFrom('north', 'south', 'north-1', '*', 'west')

/** A rule with all columns: role, domain, path, method and effect. */
export const ruleLine = fc
  .tuple(
    role,
    fc.constantFrom('north', 'south', '*', 'north*', 'n*', 'north-1'),
    fc.constantFrom('/a', '/a/:id', '/*', '/a/7'),
    fc.constantFrom('GET', 'POST'),
    fc.constantFrom('allow', 'allow', 'deny'),
  )
  .map((fields) => ['p', ...fields])

/** A `g` line with a domain. */
export const link = fc
  .tuple(
    fc.constantFrom('ann', 'bob', 'lead'),
    fc.constantFrom('lead', 'staff', 'root'),
    fc.constantFrom('north', 'south', 'north-1', '*'),
  )
  .map((fields) => ['g', ...fields])

/** What may be asked about such lines. */
export const question = fc.record({
  roleKey: role,
  domain,
  method: fc.constantFrom('GET', 'POST'),
  path: fc.constantFrom('/a', '/a/7', '/b'),
})

/** The lines with the columns that the model has, each once. */
export function linesFor(
  modelText: string,
  rules: readonly string[][],
  links: readonly string[][],
): readonly string[] {
  const hasEffect = modelText.includes('act, eft')
  const hasDomain = modelText.includes('p = sub, dom')
  const isList = modelText.includes('regexMatch')
  const isExact = !modelText.includes('(r.obj')
  const places = modelText.includes('g = _, _, _') ? 4 : modelText.includes('g = _, _') ? 3 : 0
  const all = [
    ...rules.map(([type = '', who = '', where = '', path = '', method = '', effect = '']) => [
      ...[type, who, ...(hasDomain ? [where] : []), isExact ? literal(path) : path],
      ...[isList ? `^(${method})$` : method, ...(hasEffect ? [effect] : [])],
    ]),
    ...(places === 0 ? [] : links.map((each) => each.slice(0, places))),
  ]
  return [...new Set(all.map((each) => each.join(', ')))]
}

function literal(path: string): string {
  return path.replace(':id', '7').replace('*', 'b')
}
