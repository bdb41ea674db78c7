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
