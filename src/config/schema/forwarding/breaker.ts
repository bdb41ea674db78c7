import { DAY_MS, integer } from '../setting-builders.ts'
import { Type } from '../type.ts'

const unused = 'Without effect, and accepted for configurations of 0.1'

/** Unreachable targets. YAML 1.1, which Helm reads, takes `off` for `false`. */
export const breaker = Type.Union(
  [
    Type.Object(
      {
        failures: integer(
          { default: 5, from: 1, to: 10_000 },
          'Consecutive failed attempts to connect to a target after which it counts as unreachable.',
        ),
        openMs: integer(
          { default: 1000, from: 10, to: DAY_MS },
          `${unused}: an unreachable target is tried every half second.`,
        ),
        maxOpenMs: integer({ default: 30_000, from: 10, to: DAY_MS }, `${unused}, as openMs.`),
      },
      { additionalProperties: false },
    ),
    Type.Literal('off'),
    Type.Literal(false),
  ],
  {
    default: {},
    description:
      'Circuit breaker: an unreachable target gets no requests until it accepts connections again. off (or false): every request tries.',
  },
)
