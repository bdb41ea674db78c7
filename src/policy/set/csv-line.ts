import { quote } from '../rule/rule.ts'

/**
 * Splits one line the way casbin's reader does: by commas, fields trimmed, a field in double quotes
 * may hold commas. Answers with a sentence for quotes that it would guess about.
 */
export function splitLine(line: string): readonly string[] | string {
  const fields: string[] = []
  if (!line.includes('"')) {
    let start = 0
    for (let end = line.indexOf(','); end !== -1; end = line.indexOf(',', start)) {
      fields.push(line.slice(start, end).trim())
      start = end + 1
    }
    fields.push(line.slice(start).trim())
    return fields
  }
  for (const { start, end } of fieldsOf(line)) {
    const text = line.slice(start, end).trim()
    if (!text.includes('"')) {
      fields.push(text)
      continue
    }
    const inner = text.slice(1, -1)
    if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"') || inner.includes('"')) {
      return 'misplaced double quote: quote a whole field ("a,b") and use no double quotes inside it'
    }
    fields.push(inner.trim())
  }
  return fields
}

/** The column, counted from 1, in which the field with this index begins. */
export function columnOf(line: string, index: number): number {
  const { start, end } = fieldsOf(line)[index] ?? { start: 0, end: 0 }
  const field = line.slice(start, end)
  return start + field.length - field.trimStart().length + 1
}

/**
 * Where people who know other formats began a comment after the columns of a line, and what to do
 * about it. Here and in Casbin it becomes a part of the column. A role key may contain "#".
 */
export function inlineComment(
  line: string,
): { readonly column: number; readonly message: string } | undefined {
  if (!line.includes('#')) return undefined
  for (const { start, end } of fieldsOf(line).slice(2)) {
    const field = line.slice(start, end)
    const at = field.search(field.trimStart().startsWith('/') ? /(?<=\s)#/ : /#/)
    if (at === -1 || field.includes('"')) continue
    const comment = quote(line.slice(start + at).trim())
    const message = `${comment} is read as a part of the rule: a comment needs a line of its own; move it to the line above`
    return { column: start + at + 1, message }
  }
  return undefined
}

/** One field as a line of a policy file has it. */
export function formatField(text: string): string {
  return text.includes(',') ? `"${text}"` : text
}

function fieldsOf(line: string): readonly { start: number; end: number }[] {
  const fields: { start: number; end: number }[] = []
  let start = 0
  let quoted = false
  for (let at = 0; at < line.length; at++) {
    const character = line[at]
    if (character === '"') quoted = !quoted
    if (character !== ',' || quoted) continue
    fields.push({ start, end: at })
    start = at + 1
  }
  fields.push({ start, end: line.length })
  return fields
}
