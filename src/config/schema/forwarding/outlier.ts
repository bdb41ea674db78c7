import { DAY_MS, integer, section } from '../setting-builders.ts'

/** Ejection of targets that accept connections, but serve badly. */
export const outlier = section(
  'Outlier detection: targets that accept connections, but serve badly, get no requests for a while.',
  {
    consecutive5xx: integer(
      { default: 0, from: 0, to: 10_000 },
      'Consecutive responses with a status of 500 or above after which a target is ejected, if they are of two callers or there is only one. 0: statuses do not count.',
    ),
    consecutiveBroken: integer(
      { default: 5, from: 0, to: 10_000 },
      'Consecutive requests without a complete response after which a target is ejected, if they are of two callers or there is only one. 0: they do not count.',
    ),
    errorShare: section(
      'Ejection of a target that fails a steady part of its requests, and at least twice as often as the others. Every caller counts as much as any other.',
      {
        percent: integer(
          { default: 0, from: 0, to: 100 },
          'Share of failed requests in one interval from which a target is ejected, in percent: status of 500 or above, broken response, or no response. 0: it does not count.',
        ),
        requests: integer(
          { default: 50, from: 1, to: 1_000_000 },
          'Minimum number of requests to a target in the interval. With fewer, their share of failures does not count.',
        ),
        intervalMs: integer(
          { default: 10_000, from: 100, to: DAY_MS },
          'Interval in which requests are counted, in milliseconds.',
        ),
      },
    ),
    baseEjectionMs: integer(
      { default: 30_000, from: 10, to: DAY_MS },
      'Duration of the first ejection, in milliseconds. Each further one lasts that much longer.',
    ),
    maxEjectionMs: integer(
      { default: 300_000, from: 10, to: DAY_MS },
      'Maximum duration of an ejection, in milliseconds.',
    ),
    maxEjectedPercent: integer(
      { default: 50, from: 0, to: 100 },
      'Maximum share of the targets that are ejected at a time, in percent. The last target is never ejected.',
    ),
    rampMs: integer(
      { default: 10_000, from: 0, to: DAY_MS },
      'Time in which a target that returns gets back its full share of requests, in milliseconds.',
    ),
  },
)
