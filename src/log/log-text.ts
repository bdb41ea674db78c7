import type { LineDestination } from './log.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Turns JSON log lines into text: time, level, message, and the rest as `name=value`. Client input is
 * escaped: it cannot emit terminal control codes or forge log lines.
 */
export function createTextLines(destination: LineDestination, colors: boolean): LineDestination {
  const paint = colors ? painted : plain
  return {
    ...destination,
    write: (line) => void destination.write(`${textOf(JSON.parse(line), paint)}\n`),
  }
}

function textOf(fields: Fields, paint: Paint): string {
  const { time, timestamp, level, msg, err, ...rest } = fields
  const at = String(time ?? timestamp ?? '').slice(11, 23)
  const summary = summaries[String(msg)]?.(rest, paint) ?? { text: visible(msg), rest }
  const head = `${paint.dim(visible(at))} ${levelText(level, paint)} ${summary.text}`
  return `${head}${pairs(summary.rest, paint)}${stackOf(err)}`
}

interface Summary {
  readonly text: string
  readonly rest: Fields
}

/** The most frequent lines show their important fields first. */
const summaries: Readonly<Record<string, (fields: Fields, paint: Paint) => Summary>> = {
  request({ method, path, status, outcome, ms, caller, ...rest }, paint) {
    const how = outcome === 'passed' ? paint.good : isFault(status) ? paint.bad : paint.notable
    const call = `${visible(method)} ${visible(path ?? '-')}`
    const end = how(`${visible(status)} ${visible(outcome)}`)
    return { text: `${call} ${end} ${visible(ms)}ms ${visible(caller ?? '-')}`, rest }
  },
  decision({ result, method, path, subject, reason, ...rest }, paint) {
    const { user_id: user, role_key: role } = (subject ?? {}) as Fields
    const how = result === 'allow' ? paint.good : paint.notable
    const call = `${visible(method)} ${visible(path ?? '-')}`
    const who = `${visible(user ?? '-')} ${visible(role ?? '-')}`
    const { decision_id: _, labels: __, ...kept } = rest
    return { text: `${how(visible(result))} ${call} ${visible(reason)} ${who}`, rest: kept }
  },
}

function isFault(status: unknown): boolean {
  return Number(status) >= 500
}

function pairs(fields: Fields, paint: Paint): string {
  return Object.entries(fields)
    .map(([name, value]) => ` ${paint.dim(`${visible(name)}=`)}${valueText(value)}`)
    .join('')
}

/** Quoted where it contains spaces, quotes or `=`. */
function valueText(value: unknown): string {
  if (typeof value !== 'string') return visible(JSON.stringify(value))
  return /^[^\s"=]+$/.test(value) ? visible(value) : visible(JSON.stringify(value))
}

function stackOf(err: unknown): string {
  const { stack } = (err ?? {}) as Fields
  if (typeof stack !== 'string') return ''
  return stack
    .split('\n')
    .map((line) => `\n    ${visible(line.trim())}`)
    .join('')
}

/** Escapes control characters, and characters that hide or reverse text. */
function visible(value: unknown): string {
  return String(value).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

type Color = (text: string) => string
interface Paint {
  readonly dim: Color
  readonly good: Color
  readonly notable: Color
  readonly bad: Color
}

const ansi =
  (code: number): Color =>
  (text) =>
    `\u001b[${code}m${text}\u001b[0m`
const painted: Paint = { dim: ansi(2), good: ansi(32), notable: ansi(33), bad: ansi(31) }

const asIs: Color = (text) => text
const plain: Paint = { dim: asIs, good: asIs, notable: asIs, bad: asIs }

function levelText(level: unknown, paint: Paint): string {
  const text = visible(level).toUpperCase().padEnd(5)
  if (level === 'error' || level === 'fatal') return paint.bad(text)
  return level === 'warn' ? paint.notable(text) : text
}
