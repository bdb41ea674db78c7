import type { Timing } from './timing.ts'

/** What one process has measured of the index. */
export interface IndexRun {
  readonly hit: Timing
  readonly miss: Timing
  readonly bytesPerRule: number | null
  readonly parseMs: number
  readonly compileMs: number
  readonly prepareMs: number
  readonly pauses: number
  readonly holdMs: { readonly best: number; readonly worst: number }
  readonly sliceCpuMs: { readonly best: number; readonly worst: number }
}

/** What one process has measured of a policy in which each rule has a path of its own. */
export interface MemoryRun {
  readonly bytesPerRule: number | null
}

/** What one process has measured of casbin. */
export interface CasbinRun {
  readonly hit: Timing
  readonly miss: Timing
  readonly loadMs: number
  readonly differingAnswers: number
}

/** All runs of one size. */
export interface SizeRuns<Run> {
  readonly rules: number
  readonly runs: readonly Run[]
}

/** What is to be reached, with the best and the worst run of it. */
export interface Target {
  readonly what: string
  readonly atMost: number
  readonly best: number
  readonly worst: number
}

/** Compares the runs with what issue 3 asks for. */
export function targetsOf(
  sizes: readonly SizeRuns<IndexRun>[],
  ownPaths: readonly SizeRuns<MemoryRun>[],
): readonly Target[] {
  const runsOf = (rules: number) => sizes.find((size) => size.rules === rules)?.runs ?? []
  const medians = (runs: readonly IndexRun[]) =>
    runs.flatMap((run) => [run.hit.medianNs, run.miss.medianNs])
  const slowest = (runs: readonly IndexRun[]) => runs.map((run) => Math.max(...medians([run])))
  const small = slowest(runsOf(100))
  const ratios = slowest(runsOf(100_000)).map((ns, run) => ns / (small[run] ?? ns))
  const bytes = (of: readonly SizeRuns<MemoryRun>[]) =>
    of.flatMap(({ runs }) => runs.flatMap((run) => run.bytesPerRule ?? []))
  return [
    ...sizes.map(({ rules, runs }) => ({
      what: `median decision at ${format(rules)} rules, ns`,
      atMost: 2_000,
      best: Math.min(...slowest(runs)),
      worst: Math.max(...slowest(runs)),
    })),
    {
      what: '100,000 rules against 100, times',
      atMost: 2,
      best: hundredth(Math.min(...ratios)),
      worst: hundredth(Math.max(...ratios)),
    },
    ...[
      { what: 'memory per rule, bytes', values: bytes(sizes) },
      { what: 'the same with a path of its own for each rule', values: bytes(ownPaths) },
    ].map(({ what, values }) => ({
      what,
      atMost: 300,
      best: Math.min(...values),
      worst: Math.max(...values),
    })),
    {
      what: 'longest hold of the event loop at 100,000 rules, ms',
      atMost: 25,
      best: Math.min(...runsOf(100_000).map((run) => run.holdMs.best)),
      worst: Math.max(...runsOf(100_000).map((run) => run.holdMs.worst)),
    },
  ]
}

/** The runs as tables: of each number the best run and, behind a slash, the worst. */
export function tablesOf(
  index: readonly SizeRuns<IndexRun>[],
  casbin: readonly SizeRuns<CasbinRun>[],
): string {
  const ofRuns = <Run>(runs: readonly Run[], value: (run: Run) => number) => {
    const values = runs.map(value)
    const [best, worst] = [Math.min(...values), Math.max(...values)]
    return best === worst ? format(best) : `${format(best)}/${format(worst)}`
  }
  const indexRows = index.map(({ rules, runs }) => [
    format(rules),
    ofRuns(runs, (run) => run.hit.medianNs),
    ofRuns(runs, (run) => run.hit.p99Ns),
    ofRuns(runs, (run) => run.miss.medianNs),
    ofRuns(runs, (run) => run.miss.p99Ns),
    runs[0]?.bytesPerRule == null ? '-' : ofRuns(runs, (run) => run.bytesPerRule ?? 0),
    ofRuns(runs, (run) => run.parseMs + run.compileMs),
    ofRuns(runs, (run) => run.holdMs.best),
    ofRuns(runs, (run) => run.sliceCpuMs.best),
  ])
  const casbinRows = casbin.map(({ rules, runs }) => [
    format(rules),
    ofRuns(runs, (run) => run.hit.medianNs),
    ofRuns(runs, (run) => run.hit.p99Ns),
    ofRuns(runs, (run) => run.miss.medianNs),
    ofRuns(runs, (run) => run.miss.p99Ns),
    ofRuns(runs, (run) => run.loadMs),
    ofRuns(runs, (run) => run.differingAnswers),
  ])
  const times = ['hit ns', 'p99', 'miss ns', 'p99']
  return [
    'index',
    align([
      ['rules', ...times, 'bytes/rule', 'compile ms', 'hold ms', 'slice cpu ms'],
      ...indexRows,
    ]),
    '',
    'casbin',
    align([['rules', ...times, 'load ms', 'other answers'], ...casbinRows]),
  ].join('\n')
}

/** The targets, one to a line. */
export function targetLines(targets: readonly Target[]): string {
  return align(
    targets.map(({ what, atMost, best, worst }) => [
      what,
      `at most ${format(atMost)}`,
      `best ${format(best)}`,
      `worst ${format(worst)}`,
      worst <= atMost ? 'met' : best <= atMost ? 'met at best' : 'missed',
    ]),
  )
}

function align(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  const line = (row: readonly string[]) =>
    row.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
    )
  return rows.map((row) => line(row).join('  ')).join('\n')
}

function format(value: number): string {
  return value.toLocaleString('en-US')
}

function hundredth(value: number): number {
  return Math.round(value * 100) / 100
}
