import type { Problem } from '../../kernel/errors.ts'
import { quote } from '../rule/rule.ts'
import { readCasbinModel } from './casbin-model.ts'
import { readIndexModel } from './index-model.ts'
import type { Model } from './model.ts'
import { readModelConf } from './model-conf.ts'

/**
 * Reads a Casbin model. Reports every problem with its line, and returns `undefined` if it found any.
 * A model outside the index grammar has to pass the checks of `readCasbinModel`.
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

  const outsideIndex: string[] = []
  const model =
    readIndexModel(conf, (_, message) => void outsideIndex.push(message)) ??
    readCasbinModel(conf, outsideIndex, complain)
  return sound ? model : undefined
}

const requiredEntries = [
  'request_definition.r',
  'policy_definition.p',
  'policy_effect.e',
  'matchers.m',
] as const
