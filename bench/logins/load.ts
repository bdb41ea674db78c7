import { type Shot, shootAtOnce, shootAtRate } from './open-loop.ts'

/** What a load process is told to do. */
export interface Order {
  readonly shot: Shot
  readonly seconds: number
  /** At this rate, or else with so many under way. */
  readonly perSecond?: number
  readonly concurrency?: number
}

/** What came of it. */
export interface Outcome {
  readonly milliseconds: readonly number[]
  readonly good: number
  readonly bad: number
}

/* Makes requests when told to, in a process of its own, and sends back how long they took. */
process.on('message', async ({ shot, seconds, perSecond, concurrency = 1 }: Order) => {
  const answers = await (perSecond === undefined
    ? shootAtOnce(shot, { concurrency, seconds })
    : shootAtRate(shot, { perSecond, seconds }))
  const isGood = ({ status, text }: { status: number; text: string }) =>
    status === 200 && (text === 'ok' || text.includes('"code":200'))
  const good = answers.filter(isGood).length
  const milliseconds = answers.map((answer) => answer.milliseconds)
  process.send?.({ milliseconds, good, bad: answers.length - good } satisfies Outcome)
})
