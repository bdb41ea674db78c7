import { isMap, isScalar, type ParsedNode } from 'yaml'
import type { Problem } from '../../kernel/errors.ts'
import { parsePlacedYaml } from '../../kernel/yaml.ts'

/** Reports a problem at the place of a node, or at the beginning. */
export type Complain = (node: unknown, message: string) => undefined

/**
 * Parses YAML by the failsafe schema, which knows only text: no `no` that is a boolean, no tag that
 * builds something. Reports what is no YAML, and a document that has more levels than the parser can
 * read; `undefined` then.
 */
export function parseTexts(
  file: { readonly name: string; readonly text: string },
  report: (problem: Problem) => void,
) {
  const { contents, errors, warnings, ...places } = parsePlacedYaml(file, { schema: 'failsafe' })
  const exhausted = errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION')
  if (exhausted !== undefined) {
    const { line } = places.placeAt(exhausted.pos[0])
    const message = 'lists or mappings are nested too deeply: remove the inner ones'
    report({ file: file.name, line, message })
    return undefined
  }
  const placeOf = (node: unknown) => places.placeOf(node) ?? places.placeAt(0)
  const complain: Complain = (node, message) => {
    report({ ...placeOf(node), message })
  }
  for (const { pos, message } of [...errors, ...warnings]) complain({ range: pos }, message)
  return errors.length > 0 ? undefined : { contents, placeOf, complain }
}

/** The values of a mapping by their keys. */
export type Fields<Key extends string> = { readonly [key in Key]?: ParsedNode }

/** What an entry of a list may have. */
interface EntryForm<Key extends string> {
  readonly keys: readonly Key[]
  /** Said of an entry that is no mapping. */
  readonly form: string
  readonly unknownKey?: (key: unknown) => string
}

/** The values of an entry; `undefined` after it has said which keys do not belong there. */
export function fieldsOf<Key extends string>(
  item: unknown,
  { keys, form, unknownKey = () => `unknown key: use ${keys.join(', ')}` }: EntryForm<Key>,
  complain: Complain,
): Fields<Key> | undefined {
  if (!isMap(item)) return complain(item, form)
  const fields: { [key in Key]?: ParsedNode } = {}
  let isSound = true
  for (const { key, value } of item.items) {
    const name = keys.find((each) => isScalar(key) && each === key.value)
    if (name !== undefined && value !== null) fields[name] = value as ParsedNode
    else {
      isSound = false
      complain(key, name === undefined ? unknownKey(key) : 'must have a value')
    }
  }
  return isSound ? fields : undefined
}

/** The text of a value; `undefined` after it has said that there is something else. */
export function textOf(name: string, node: unknown, complain: Complain): string | undefined {
  return isScalar(node) ? String(node.value) : complain(node, `${name} must be one text`)
}

/** The values of an entry that has only texts. */
export function textsOf<Key extends string>(
  item: unknown,
  form: EntryForm<Key>,
  complain: Complain,
): { readonly [key in Key]?: string } | undefined {
  const fields = fieldsOf(item, form, complain)
  if (fields === undefined) return undefined
  const texts = form.keys.flatMap((name) => {
    const node = fields[name]
    return node === undefined ? [] : [[name, textOf(name, node, complain)] as const]
  })
  if (texts.some(([, text]) => text === undefined)) return undefined
  return Object.fromEntries(texts) as { readonly [key in Key]?: string }
}
