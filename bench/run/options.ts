import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { checkout } from './places.ts'
import type { WarmUp } from './warm-up.ts'

export const usage = `npm run bench -- [options]

Without options: everything, about 40 minutes. All peers are up at once: 4 GB of memory.

  --quick            less than three minutes: what the ratios need that change from day to day
  --install          have the system's package manager bring what is missing (nginx, HAProxy, …)
  --peers A,B        only these            --workload A,B   only these
  --rounds N         5; quick 1            --seconds N      of each figure: 2; quick 1
  --postern DIR      the checkout of the Postern that is measured: this one
  --result FILE      where the JSON goes
  --from FILE        no run: the tables, document and chart of an earlier one
  --write-docs       fill the tables and the chart of docs/performance.md
  --write-baseline   keep the ratios for bench:check
`

/** What a run is told to do. */
export interface Options {
  readonly quick: boolean
  readonly install: boolean
  /** `undefined`: all of them. */
  readonly peers: readonly string[] | undefined
  readonly workloads: readonly string[] | undefined
  readonly rounds: number
  /** How many pairs of windows are taken of what each target compares, after each round. */
  readonly pairs: number
  readonly windowMs: number
  readonly seconds: number
  /** Once, after the start of each peer. */
  readonly warmUp: WarmUp
  readonly postern: string
  readonly result: string | undefined
  readonly from: string | undefined
  readonly writeDocs: boolean
  readonly writeBaseline: boolean
}

/** Throws on an option that does not exist or a number that is none. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      install: { type: 'boolean', default: false },
      peers: { type: 'string' },
      workload: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      postern: { type: 'string', default: checkout },
      result: { type: 'string' },
      from: { type: 'string' },
      'write-docs': { type: 'boolean', default: false },
      'write-baseline': { type: 'boolean', default: false },
    },
  })
  const { quick, install, peers, workload, rounds, seconds, postern, result, from } = values
  return {
    quick,
    install,
    peers: peers?.split(','),
    workloads: workload?.split(','),
    rounds: atLeastOne('rounds', rounds ?? (quick ? '1' : '5')),
    pairs: quick ? 10 : 8,
    windowMs: quick ? 300 : 500,
    // The load generator knows whole seconds only.
    seconds: atLeastOne('seconds', seconds ?? (quick ? '1' : '2')),
    warmUp: { requests: 150_000, mostSeconds: quick ? 6 : 15 },
    postern: resolve(postern),
    result: result === undefined ? undefined : resolve(result),
    from: from === undefined ? undefined : resolve(from),
    writeDocs: values['write-docs'],
    writeBaseline: values['write-baseline'],
  }
}

function atLeastOne(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`--${name} is a whole number from 1 on`)
  return value
}
