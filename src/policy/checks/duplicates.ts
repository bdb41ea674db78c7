import { type Finding, type Locate, placeOf } from '../review/finding.ts'
import type { Origin } from '../rule/rule.ts'
import { splitLine } from '../set/csv-line.ts'
import type { PolicyFile, PolicySet } from '../set/policy-set.ts'

/** Finds lines of `*.csv` files, and exclusions, that repeat an earlier one. */
export function checkDuplicates(
  { exclusions }: PolicySet,
  files: readonly PolicyFile[],
  locate: Locate,
): Finding[] {
  const firsts = new Map<string, Origin>()
  const findings: Finding[] = []
  const take = (key: string, origin: Origin) => {
    const first = firsts.get(key)
    if (first === undefined) {
      firsts.set(key, origin)
      return
    }
    const message = `duplicate of ${placeOf(first)}: remove one of them`
    findings.push({ ...locate(origin, 'line'), code: 'duplicate', message })
  }

  for (const { name, text } of files.filter((file) => file.name.endsWith('.csv'))) {
    for (const [index, raw] of text
      .replace(/^\uFEFF/, '')
      .split('\n')
      .entries()) {
      const line = raw.trim()
      if (line === '' || line.startsWith('#')) continue
      take(keyOf(line), { file: name, line: index + 1 })
    }
  }
  for (const { method, path, origin } of exclusions) take(`exclusion\0${method}\0${path}`, origin)
  return findings
}

/** Equal for equal lines: a rule without an effect allows. */
function keyOf(line: string): string {
  const fields = splitLine(line)
  if (typeof fields === 'string') return line
  const isDefault = fields[0] === 'p' && fields.length === 5 && fields[4] === 'allow'
  return (isDefault ? fields.slice(0, 4) : fields).join('\0')
}
