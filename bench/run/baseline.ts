import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bench } from './places.ts'
import type { Report } from './report.ts'
import type { Verdict } from './targets.ts'

/** The ratios that a later run is held to. */
export interface Baseline {
  readonly date: string
  readonly ratios: Readonly<Record<string, number>>
}

const file = join(bench, 'baseline.json')

/** How much worse a ratio may be than the one that is kept. */
export const tolerance = 0.15

/** Keeps the ratios of the quick targets that this run has measured. */
export function writeBaseline({ date, targets }: Report): void {
  const ratios = Object.fromEntries(
    targets.flatMap(({ name, quick, value }) =>
      quick && value !== undefined ? [[name, value]] : [],
    ),
  )
  const baseline: Baseline = { date, ratios }
  writeFileSync(file, `${JSON.stringify(baseline, undefined, 2)}\n`)
}

/** Throws one line on what to do when none is kept. */
export function readBaseline(): Baseline {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  throw new Error('no ratios are kept yet: npm run bench -- --quick --write-baseline')
}

/** A ratio of this run beside the one that is kept. */
export interface Comparison {
  readonly name: string
  readonly what: string
  readonly kept: number
  /** Absent where it could not be measured. */
  readonly now?: number
  readonly worse: boolean
}

/** Every ratio that is kept. One that could not be measured counts as neither worse nor good. */
export function compareWith(
  { ratios }: Baseline,
  verdicts: readonly Verdict[],
): readonly Comparison[] {
  return Object.entries(ratios).map(([name, kept]) => {
    const { what = name, value } = verdicts.find((verdict) => verdict.name === name) ?? {}
    const worse = value !== undefined && value > kept * (1 + tolerance)
    return { name, what, kept, ...(value !== undefined && { now: value }), worse }
  })
}
