import { type Finding, type Locate, placeOf } from '../review/finding.ts'
import { methodsOf } from '../rule/methods.ts'
import { ANY_METHOD, type Origin, quote, type Rule } from '../rule/rule.ts'

/**
 * Collects rules that allow more than their author can list: on every path, on every path of an API,
 * or every method below a path. They also allow endpoints that are added later. Collects as well
 * rules with `*` that make narrower ones redundant, which shows that less was meant.
 */
export function createWideRules(locate: Locate) {
  const covered = new Map<Rule, Origin[]>()

  return {
    /** To be called with every rule. */
    take(rule: Rule): void {
      if (isVeryWide(rule) && !covered.has(rule)) covered.set(rule, [])
    },
    /** Whether `wide` is reported instead of `narrow`, which it makes redundant. */
    covers(wide: Rule, narrow: Rule): boolean {
      if (!isWider(wide, narrow)) return false
      const known = covered.get(wide)
      if (known === undefined) covered.set(wide, [narrow.origin])
      else known.push(narrow.origin)
      return true
    },
    findings(): Finding[] {
      return [...covered].map(([rule, related]) => {
        const at = locate(rule.origin, rule.path.endsWith('*') ? 'path' : 'method')
        return { ...at, code: 'wide-rule', message: messageOf(rule, related), related }
      })
    },
  }
}

/** No resource is named before the star: `/*`, `/api/*`, `/api/v1/*`, `/:tenant/*`. */
const anyResource = /^(?:\/(?:api|v\d+|:[^/]+))*(?:\/|\/api|\/v\d+)\*$/

function isVeryWide({ effect, path, method }: Rule): boolean {
  if (effect !== 'allow') return false
  return anyResource.test(path) || (allowsEveryMethod(method) && path.endsWith('/*'))
}

/** `*`, or the same as a regular expression. */
function allowsEveryMethod(method: string): boolean {
  return methodsOf(method).includes(ANY_METHOD)
}

function isWider(wide: Rule, narrow: Rule): boolean {
  // A wide rule that denies is the careful one.
  if (wide.effect !== 'allow' || narrow.effect !== 'allow') return false
  if (allowsEveryMethod(wide.method) && !allowsEveryMethod(narrow.method)) return true
  return wide.path.endsWith('*') && wide.path !== narrow.path
}

function messageOf(rule: Rule, related: readonly Origin[]): string {
  const { roleKey, path, method } = rule
  const what = allowsEveryMethod(method) ? 'every method' : method
  const where = path === '/*' ? 'every path' : path
  const [first, ...others] = related
  const rules = others.length === 0 ? '1 rule' : `${related.length.toLocaleString('en')} rules`
  const covers =
    first === undefined ? '' : `makes ${rules} redundant, for example ${placeOf(first)}`
  if (!isVeryWide(rule)) return `${covers}: remove what is redundant, or narrow this rule`
  const allows = `very wide: allows role ${quote(roleKey)} ${what} on ${where}, also on endpoints that are added later`
  return `${allows}${covers === '' ? '' : `; ${covers}`}: name the resources and methods that the role needs`
}
