import type { LineDestination } from './log.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Turns JSON log lines into lines for people: time, level, what happened, and the rest as
 * `name=value`. Whatever a client can bring into a line is escaped, so that it neither moves the
 * cursor nor begins a line of its own.
 */
export function createTextLines(destination: LineDestination, colours: boolean): LineDestination {
  const paint = colours ? painted : plain
  return {
    ...destination,
    write: (line) => void destination.write(`${textOf(JSON.parse(line), paint)}\n`),
  }
}

function textOf(fields: Fields, paint: Paint): string {
  const { time, timestamp, level, msg, err, ...rest } = fields
  const at = String(time ?? timestamp ?? '').slice(11, 23)
  const told = summaries[String(msg)]?.(rest, paint) ?? { text: visible(msg), rest }
  const head = `${paint.dim(visible(at))} ${levelText(level, paint)} ${told.text}`
  return `${head}${pairs(told.rest, paint)}${stackOf(err)}`
}

interface Summary {
  readonly text: string
  readonly rest: Fields
}

/** What people want to see first of the lines that come most often. */
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

/** Quoted where its ends would otherwise be unclear. */
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

/** Controls, and what hides or reverses text, become their numbers. */
function visible(value: unknown): string {
  return String(value).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

type Colour = (text: string) => string
interface Paint {
  readonly dim: Colour
  readonly good: Colour
  readonly notable: Colour
  readonly bad: Colour
}

const ansi =
  (code: number): Colour =>
  (text) =>
    `\u001b[${code}m${text}\u001b[0m`
const painted: Paint = { dim: ansi(2), good: ansi(32), notable: ansi(33), bad: ansi(31) }

const asIs: Colour = (text) => text
const plain: Paint = { dim: asIs, good: asIs, notable: asIs, bad: asIs }

function levelText(level: unknown, paint: Paint): string {
  const text = visible(level).toUpperCase().padEnd(5)
  if (level === 'error' || level === 'fatal') return paint.bad(text)
  return level === 'warn' ? paint.notable(text) : text
}
