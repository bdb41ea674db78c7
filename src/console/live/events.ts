import { Type, type ValueOf } from '../../config/schema/type.ts'
import type { DecisionBatch } from '../../fleet/decision-batch.ts'
import { flag, list, nullable, text, time, typed, whole, word } from '../../operations/schema.ts'

/** Counts by name. */
const counts = Type.Record(Type.String({ pattern: '' }), whole)

const trafficPoint = Type.Object(
  {
    at: Type.Integer({ description: 'The end of the step, in milliseconds since 1970.' }),
    outcomes: Type.Optional(
      Type.Record(Type.String({ pattern: '' }), whole, {
        description: 'Requests that ended in it. Absent: no gateway answered.',
      }),
    ),
    revision: Type.Optional(nullable(text)),
    counts: Type.Optional(counts),
  },
  { title: 'TrafficPoint' },
)
/** One step of time. */
export type TrafficPoint = ValueOf<typeof trafficPoint>

/** The events of `live/traffic`, by name. */
export const trafficEvents = {
  history: Type.Object({ stepMs: whole, points: list(trafficPoint) }),
  point: trafficPoint,
} as const

const optionalText = Type.Optional(text)

/** The events of `live/decisions`, by name. */
export const decisionEvents = {
  state: Type.Object(
    {
      available: Type.Boolean({ description: 'Whether there is anything to hear gateways by.' }),
      connected: flag,
    },
    { title: 'WatchState' },
  ),
  decisions: typed<DecisionBatch>(
    Type.Object(
      {
        decisions: list(
          Type.Object(
            {
              ...{ at: time, gateway: text, method: text, result: word('allow', 'deny') },
              ...{ reason: text, step: text, path: optionalText, host: optionalText },
              ...{ domain: optionalText, role: optionalText, user: optionalText },
              ...{ rule: optionalText, revision: optionalText, request: optionalText },
            },
            { title: 'WatchedDecision' },
          ),
        ),
        leftOut: Type.Integer({ description: 'How many more the gateway decided.' }),
      },
      { title: 'DecisionBatch' },
    ),
  ),
} as const

/** The data of one of these events. */
export type EventsOf<Events extends Readonly<Record<string, Parameters<typeof list>[0]>>> = {
  readonly [Name in keyof Events]: ValueOf<Events[Name]>
}
