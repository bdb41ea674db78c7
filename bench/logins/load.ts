import { type Answer, type Fire, type Shot, shoot, shootAtOnce, shootAtRate } from './open-loop.ts'

/** What a load process is told to do. */
export interface Order {
  readonly shot: Shot
  /** What is asked for before each, and has to be answered well. */
  readonly before?: Shot
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
process.on('message', async (order: Order) => {
  const { seconds, perSecond, concurrency = 1 } = order
  const answers = await (perSecond === undefined
    ? shootAtOnce(fireOf(order), { concurrency, seconds })
    : shootAtRate(fireOf(order), { perSecond, seconds }))
  const good = answers.filter(isGood).length
  const milliseconds = answers.map((answer) => answer.milliseconds)
  process.send?.({ milliseconds, good, bad: answers.length - good } satisfies Outcome)
})

function fireOf({ shot, before }: Order): Fire {
  return async (agent) => {
    const first = before && (await shoot(before, agent))
    return first === undefined || isGood(first) ? shoot(shot, agent) : first
  }
}

function isGood({ status, text }: Answer): boolean {
  return status === 200 && (text === 'ok' || text.includes('"code":200'))
}
