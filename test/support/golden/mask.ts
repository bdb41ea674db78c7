import { tmpdir } from 'node:os'
import { resolve } from 'node:path'

/** What differs from run to run in the output of commands and in responses. */
interface Rule {
  readonly name: string
  readonly form: RegExp
  /** Numbers the values of a text, so that two that were equal stay equal. Times may be equal by chance. */
  readonly numbered?: true
}

const escaped = (text: string) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)

/** In this order: a rule sees what those before it left. */
const rules: readonly Rule[] = [
  { name: 'tmp', form: new RegExp(`${escaped(tmpdir())}/[\\w.-]+`, 'g'), numbered: true },
  { name: 'root', form: new RegExp(escaped(resolve('.')), 'g') },
  { name: 'jwt', form: /\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g, numbered: true },
  {
    name: 'uuid',
    form: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{11,12}\b/gi,
    numbered: true,
  },
  {
    name: 'time',
    form: /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:\d\d| UTC)?/g,
  },
  { name: 'date', form: /\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\b/g },
  { name: 'epoch', form: /\b1[6-9]\d{8}(?:\d{3}){0,2}(?:\.\d+)?\b/g },
  { name: 'port', form: /(?<=(?:127\.0\.0\.\d+|localhost|\[::1?\]|0\.0\.0\.0):)\d{2,5}\b/g },
  { name: 'pid', form: /(?<=\bpid )\d+/g },
  { name: 'duration', form: /\b\d+(?:\.\d+)?(?= ?(?:µs|ms|s|seconds?|minutes?|hours?)\b)/g },
  { name: 'replica', form: /\b\w[\w-]*-\d{2,7}-[0-9a-f]{6}\b/g },
  { name: 'size', form: /\b\d+(?:\.\d+)?(?= GiB free)/g },
  // Rows of tables that tests share.
  { name: 'id', form: /(?<="id": ")\d+(?=")|\b1000\d\d\b/g },
  { name: 'age', form: /(?<="ageSeconds": )[\d.]+/g },
  {
    name: 'password',
    form: /(?<![\w-])(?=(?:[a-z\d]*[A-Z]){3})(?=(?:[A-Z\d]*[a-z]){3})[A-Za-z\d]{16}(?![\w-])/g,
  },
  { name: 'hash', form: /(?<![\w-])(?:r-)?[0-9a-f]{12,128}(?![\w-])/g, numbered: true },
  {
    name: 'key',
    form: /(?<![\w/+-])(?=[\w/+-]*\d)(?=[\w/+-]*[A-Z])[\w/+-]{20,}={0,2}/g,
    numbered: true,
  },
]

/** The text without what differs from run to run. */
export function mask(text: string): string {
  return rules.reduce((left, { name, form, numbered }) => {
    const seen = new Map<string, number>()
    return left.replaceAll(form, (value) => {
      if (!numbered) return `<${name}>`
      const number = seen.get(value) ?? seen.size + 1
      seen.set(value, number)
      return number === 1 ? `<${name}>` : `<${name} ${number}>`
    })
  }, text)
}
