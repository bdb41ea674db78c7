import type { Problem } from '../../errors.ts'
import { quote } from '../rule/rule.ts'
import { readCasbinModel } from './casbin-model.ts'
import { readCoveredModel } from './covered-model.ts'
import type { Model } from './model.ts'
import { readModelConf } from './model-conf.ts'

/**
 * Reads a casbin model. Reports every problem, with its line, and answers `undefined` when there is
 * one. A model outside the covered grammar has to pass what `readCasbinModel` asks for.
 */
export function parseModel(
  file: { readonly name: string; readonly text: string },
  report: (problem: Problem) => void,
): Model | undefined {
  let sound = true
  const complain = (line: number, message: string): undefined => {
    sound = false
    report({ file: file.name, line, message })
  }
  const conf = readModelConf(file, ({ line = 1, message }) => complain(line, message))

  for (const [name, { value: text, line }] of conf.entries) {
    // The evaluator behind casbin's eval() turns policy rows into code.
    if (/\beval\s*\(/.test(text))
      complain(
        line,
        `${quote(name)} calls eval(), which is not allowed: it runs policy rows as code`,
      )
  }
  const missing = requiredEntries.filter((name) => !conf.entries.has(name))
  for (const name of missing) complain(1, `${quote(name)} is missing from the model`)
  if (missing.length > 0) return undefined

  const notCovered: string[] = []
  const model =
    readCoveredModel(conf, (_, message) => void notCovered.push(message)) ??
    readCasbinModel(conf, notCovered, complain)
  return sound ? model : undefined
}

const requiredEntries = [
  'request_definition.r',
  'policy_definition.p',
  'policy_effect.e',
  'matchers.m',
] as const
