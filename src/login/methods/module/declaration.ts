import { isRecord } from '../../../kernel/json.ts'
import { didYouMean, nearest } from '../../../kernel/suggest.ts'

/** What a module declares about itself, complete and valid. */
export type Declaration = ReturnType<typeof readDeclaration>

export interface DeclaredField {
  readonly name: string
  readonly maxBytes: number
  readonly optional: boolean
}

const known = ['verifyCredentials', 'fields', 'name', 'captcha', 'countBy', 'secondFactor'] as const
const fieldOptions = ['maxBytes', 'optional']
const maxFields = 16
const defaultMaxBytes = 256
/** A request to our endpoints has at most 16 KiB. */
const longestField = 8192

const methodName = /^[a-z0-9-]{1,32}$/

/** A problem that the author of the module can fix. */
export class Undeclared extends Error {}

/** Reads the exports of a module. `fileName` is the name it has unless it exports one. */
export function readDeclaration(exported: Readonly<Record<string, unknown>>, fileName: string) {
  const { verifyCredentials, name = fileName, captcha = true, secondFactor = true } = exported
  checkSpelling(exported)
  if (typeof verifyCredentials !== 'function') {
    const example = 'write "export async function verifyCredentials(request, tools)"'
    throw new Undeclared(`exports no function verifyCredentials; ${example}`)
  }
  if (typeof captcha !== 'boolean') throw new Undeclared('captcha: use true or false')
  if (typeof secondFactor !== 'boolean') throw new Undeclared('secondFactor: use true or false')
  if (typeof name !== 'string' || !methodName.test(name)) {
    throw new Undeclared(
      `name: ${shown(name)} is not a valid name; export const name = '…' with 1 to 32 lower-case letters, digits and hyphens`,
    )
  }
  const fields = readFields(exported['fields'], { captcha, secondFactor })
  return { name, fields, captcha, secondFactor, countBy: readCountBy(exported['countBy'], fields) }
}

/** An option that is not read because of its spelling could switch off a protection. */
function checkSpelling(exported: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(exported)) {
    if (known.some((option) => option === name)) continue
    const meant = nearest(name, known)
    if (meant !== undefined) {
      throw new Undeclared(
        `exports ${shown(name)}, which Postern does not read; did you mean ${meant}?`,
      )
    }
  }
}

function readFields(
  value: unknown,
  steps: { readonly captcha: boolean; readonly secondFactor: boolean },
): readonly DeclaredField[] {
  const example = 'write "export const fields = { phone: { maxBytes: 32 } }"'
  if (!isRecord(value)) throw new Undeclared(`fields: declare the fields of a login; ${example}`)
  const entries = Object.entries(value)
  if (entries.length === 0 || entries.length > maxFields) {
    throw new Undeclared(`fields: declare 1 to ${maxFields} fields; ${example}`)
  }
  return entries.map(([name, options]) => {
    const problem = nameProblem(name, steps)
    if (problem !== undefined) throw new Undeclared(`fields: ${shown(name)} ${problem}`)
    return { name, ...readOptions(name, options) }
  })
}

function nameProblem(
  name: string,
  { captcha, secondFactor }: { readonly captcha: boolean; readonly secondFactor: boolean },
): string | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name)) {
    return 'is not a valid name; use letters, digits, "_" and "-", starting with a letter'
  }
  // Objects inherit these: a request without the field would seem to have it.
  if (name in {}) return 'is a name that every object has; use another name'
  if (name === 'provider') return 'chooses the login method; use another name'
  if (captcha && (name === 'uuid' || name === 'code')) {
    return 'belongs to the captcha; use another name, such as smsCode, or export captcha = false'
  }
  if (secondFactor && name === 'otp') {
    return 'belongs to the second factor; use another name, or export secondFactor = false'
  }
  return undefined
}

function readOptions(name: string, value: unknown): Omit<DeclaredField, 'name'> {
  if (!isRecord(value))
    throw new Undeclared(`fields.${name}: use an object, such as { maxBytes: 32 }`)
  for (const key of Object.keys(value)) {
    if (fieldOptions.includes(key)) continue
    const hint = didYouMean(key, fieldOptions)
    throw new Undeclared(
      `fields.${name}: ${shown(key)} is not an option (maxBytes, optional)${hint}`,
    )
  }
  const { maxBytes = defaultMaxBytes, optional = false } = value
  if (typeof optional !== 'boolean') {
    throw new Undeclared(`fields.${name}.optional: use true or false`)
  }
  if (!isInteger(maxBytes) || maxBytes < 1 || maxBytes > longestField) {
    throw new Undeclared(`fields.${name}.maxBytes: use a whole number from 1 to ${longestField}`)
  }
  return { maxBytes, optional }
}

/** Without a value to count by, guesses would be limited by address only. */
function readCountBy(value: unknown, fields: readonly DeclaredField[]): string {
  const names = fields.map(({ name }) => name)
  const { name: countBy, optional } =
    (value === undefined ? fields[0] : fields.find(({ name }) => name === value)) ?? {}
  if (countBy === undefined) {
    const hint = typeof value === 'string' ? didYouMean(value, names) : ''
    throw new Undeclared(`countBy: ${shown(value)} is not a field (${names.join(', ')})${hint}`)
  }
  if (optional) {
    throw new Undeclared(
      `countBy: ${shown(countBy)} is optional, so guesses without it would not be counted; name a required field`,
    )
  }
  return countBy
}

function isInteger(value: unknown): value is number {
  return Number.isInteger(value)
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 64)) : typeof value
}
