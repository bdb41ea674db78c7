import { METHODS as parsedMethods } from 'node:http'
import { ANY_METHOD, METHODS, quote } from './rule.ts'

/**
 * The methods that a valid text in the method column matches: `*` alone for every method. A text is a
 * method, `*` or, under a model with regexMatch(), a regular expression without
 * `methodListProblem`.
 */
export function methodsOf(text: string): readonly string[] {
  if (names.has(text)) return [text]
  if (everyMethod.test(text)) return [ANY_METHOD]
  return text.match(/[A-Z]+/g) ?? [text]
}

const names: ReadonlySet<string> = new Set([ANY_METHOD, ...METHODS])

/**
 * What is wrong with a regular expression for methods, or `undefined`. Only alternatives of whole
 * methods are valid: a reviewer sees what they match, and without repetition nothing backtracks.
 */
export function methodListProblem(text: string): string | undefined {
  if (everyMethod.test(text)) return undefined
  if (text.length > longest || !methodList.test(text)) {
    const upper = text.toUpperCase()
    return upper !== text && methodList.test(upper)
      ? `${quote(text)} never matches: methods are case-sensitive, write ${quote(upper)}`
      : `${quote(text)} is not a list of methods: write "^(GET|POST)$", or ".*" for all methods`
  }
  // Casbin's regexMatch() is not anchored, so "PATCH" is also found in "PROPPATCH".
  const regex = new RegExp(text)
  const named = methodsOf(text)
  const beyond = parsedMethods.find((method) => regex.test(method) && !named.includes(method))
  if (beyond === undefined) return undefined
  return `${quote(text)} also matches ${beyond}: write "^(${[...new Set(named)].join('|')})$"`
}

/** Longer than all methods together. */
const longest = 200

const everyMethod = /^\^?(?:\.[*+]|\(\.[*+]\))\$?$/

const methodList = (() => {
  const method = `(?:${METHODS.join('|')})`
  const group = `\\((?:\\?:)?${method}(?:\\|${method})*\\)`
  const alternative = `\\^?(?:${method}|${group})\\$?`
  return new RegExp(`^${alternative}(?:\\|${alternative})*$`)
})()
