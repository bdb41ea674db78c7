import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { formatProblem, Invalid, type Problem } from '../../kernel/errors.ts'
import { parseKeyLine, type SshKeyLine } from '../../signing/ssh-public-key.ts'
import type { Trust, TrustedKey } from '../../signing/trust.ts'

/** `policy.trust` of the configuration. */
interface TrustSettings {
  /** Lines such as `ssh-ed25519 AAAA… alice`, and paths of files that contain such lines. */
  readonly keys: readonly string[]
  readonly signatures: number
}

/** Larger than a file with all the keys that a fleet would trust. */
const maxBytes = 65_536

/** What the configuration trusts. Throws `Invalid` with every problem in it and in its key files. */
export function readTrust({ keys: entries, signatures }: TrustSettings, cwd: string): Trust {
  const problems: Problem[] = []
  const keys: PlacedKey[] = []
  for (const found of entries.flatMap((entry, index) => linesOf(entry, index, cwd))) {
    const { file, line } = found
    const place = { file, ...(line !== undefined && { line }) }
    const key = 'why' in found ? found.why : parseKeyLine(found.text)
    const message = typeof key === 'string' ? key : nameProblem(key, keys)
    if (message !== undefined) problems.push({ ...place, message })
    else if (typeof key !== 'string') keys.push({ ...key, name: key.comment, place })
  }
  if (problems.length === 0 && signatures > keys.length) {
    const message = `is ${signatures}, but policy.trust.keys has ${keys.length}: use at most ${keys.length}`
    problems.push({ file: 'policy.trust.signatures', message })
  }
  if (problems.length > 0) throw new Invalid(problems)
  return { keys: keys.map(({ id, key, name }) => ({ id, key, name })), signatures }
}

type Place = Omit<Problem, 'message'>

interface PlacedKey extends TrustedKey {
  readonly place: Place
}

/** A signature is shown by the name of its key, so a name must mean one key, and a key one name. */
function nameProblem(key: SshKeyLine, others: readonly PlacedKey[]): string | undefined {
  const { id, comment: name } = key
  if (name === '') return 'has no name: write the name of its owner after the key'
  if (!/^[\p{L}\p{N}\p{P}\p{S} ]{1,128}$/u.test(name)) {
    return 'has a name with control characters, or longer than 128 characters'
  }
  const fold = (text: string) => text.normalize('NFKC').toLowerCase()
  const same = others.find((other) => other.id === id)
  const namesake = others.find((other) => fold(other.name) === fold(name))
  const [first] = [same, namesake].filter((other) => other !== undefined)
  if (first === undefined) return undefined
  const where = formatProblem({ ...first.place, message: first.name })
  return same === undefined
    ? `has the name of another key (${where}): give each key a name of its own`
    : `is listed already (${where}): list each key once`
}

/** What is read as a key; anything else is a path. */
const isLine = /^\s*(?:ssh|ecdsa|sk)-\S+\s/

type Line = Place & ({ readonly text: string } | { readonly why: string })

function linesOf(entry: string, index: number, cwd: string): readonly Line[] {
  const file = `policy.trust.keys[${index}]`
  if (isLine.test(entry)) return [{ file, text: entry }]
  const content = readText(resolve(cwd, entry))
  if ('why' in content) return [{ file, why: `${entry} ${content.why}` }]
  const lines = content.text
    .split(/\r?\n/)
    .map((text, at) => ({ file: entry, line: at + 1, text }))
    .filter(({ text }) => !/^\s*(?:#|$)/.test(text))
  return lines.length > 0 ? lines : [{ file, why: `${entry} contains no keys` }]
}

function readText(path: string): { readonly text: string } | { readonly why: string } {
  try {
    const found = statSync(path)
    if (!found.isFile()) return { why: 'is not a regular file' }
    if (found.size > maxBytes) return { why: 'is larger than 64 KiB' }
    return { text: readFileSync(path, 'utf8') }
  } catch (error) {
    return { why: `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unreadable'})` }
  }
}
