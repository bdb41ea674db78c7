import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from '@prometheus-io/client'
import { createCounts, type Sample } from './counts.ts'
import { createQuickHistogram } from './quick-histogram.ts'
import { type AggregateRule, aggregateRuleOf, type MetricSnapshot } from './snapshot.ts'

/** Name and help text of a metric. Labels take values from closed lists only. */
interface MetricOptions {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
  /** For gauges: how the values of several workers become one. Unset: each worker keeps its own. */
  readonly aggregate?: AggregateRule
}

/** A counter, and the label values whose series it shows at 0 before the first event. */
interface CounterOptions extends MetricOptions {
  readonly fromZero?: readonly (readonly string[])[]
}

/** A metric without labels has one value at most; `undefined`: no sample, for 0 would be a statement. */
type Reading = number | undefined | readonly Sample[]

/** A metric that another part keeps, read at scrape time. */
interface ReadMetric extends MetricOptions {
  readonly read: () => Reading
}

interface DurationOptions extends Omit<MetricOptions, 'labels'> {
  readonly label?: string
  /** Upper bounds in seconds. Unset: from a cached answer to the default timeout of an upstream. */
  readonly buckets?: readonly number[]
}

const defaultBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** `reset` alone leaves one sample without labels, at 0. */
function clear(metric: Gauge<string> | Counter<string>): void {
  metric.reset()
  metric.remove({})
}

export type MetricRegistry = ReturnType<typeof createMetricRegistry>

/** All metrics of one gateway, for Prometheus. */
export function createMetricRegistry() {
  const registry = new Registry()
  const registers = [registry]
  const rules = new Map<string, AggregateRule>()
  const readers = new Map<string, () => Reading>()

  function common({ name, help, labels = [] }: MetricOptions) {
    return { name, help, labelNames: [...labels], registers }
  }

  function readCounter({ read, ...options }: ReadMetric): void {
    readers.set(options.name, read)
    new Counter<string>({
      ...common(options),
      collect() {
        clear(this)
        for (const { value, labels } of labelled(read(), options)) this.inc(labels, value)
      },
    })
  }

  return {
    /** A counter; the returned function increments it. */
    counter(options: CounterOptions): (...labels: string[]) => void {
      const counts = createCounts(options.labels?.length ?? 0, options.fromZero)
      readCounter({ ...options, read: counts.samples })
      return counts.add
    },
    /** A histogram of seconds, with at most one label; the returned function observes. */
    duration({ name, help, label, buckets = defaultBuckets }: DurationOptions) {
      const { observe, get } = createQuickHistogram({ name, help, label, buckets })
      // The library calls nothing else on a metric.
      registry.registerMetric({ name, get } as unknown as Metric)
      return observe
    },
    readCounter,
    /** The samples of `readCounter` of this name now; empty if there is none. */
    samples: (name: string) => samplesOf(readers.get(name)?.()),
    readGauge({ read, ...options }: ReadMetric) {
      const { name, aggregate } = options
      if (aggregate !== undefined) rules.set(name, aggregate)
      new Gauge<string>({
        ...common(options),
        collect() {
          // Else the series of a revision that is no longer active would stay.
          clear(this)
          for (const { value, labels } of labelled(read(), options)) this.set(labels, value)
        },
      })
    },
    /** Every metric in text form, with those of the process. */
    text: async () => `${await registry.metrics()}${await ofProcess().metrics()}`,
    /** Every metric as data, for aggregation over processes; `own` leaves out those of the process. */
    async snapshot(which?: 'own'): Promise<readonly MetricSnapshot[]> {
      const sources = which === 'own' ? [registry] : [registry, ofProcess()]
      const metrics = sources.map((one) => one.getMetricsAsJSON())
      return (await Promise.all(metrics)).flat().map(({ name, help, type, values }) => ({
        name,
        help,
        type,
        aggregate: rules.get(name) ?? aggregateRuleOf(name),
        values: values.map((one) => ({ ...one, labels: labelsOf(one) })),
      }))
    },
    contentType: registry.contentType,
  }
}

function samplesOf(reading: Reading): readonly Sample[] {
  if (reading === undefined) return []
  return typeof reading === 'number' ? [[reading]] : reading
}

function labelled(reading: Reading, { labels = [] }: MetricOptions) {
  return samplesOf(reading).map(([value, ...values]) => ({
    value,
    labels: Object.fromEntries(labels.map((name, at) => [name, values[at] ?? ''])),
  }))
}

/** The library omits empty labels, contrary to its types. */
function labelsOf({ labels }: { labels?: object }): MetricSnapshot['values'][number]['labels'] {
  return { ...labels }
}

/** A time of RFC 3339 in seconds since the epoch. */
export function secondsOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time) / 1000
}

/** Snapshots in Prometheus text form. */
export function metricsText(metrics: readonly MetricSnapshot[]): Promise<string> {
  return Registry.aggregate([metrics]).metrics()
}

let processRegistry: Registry | undefined

/** Memory, CPU and event loop belong to the process, however many gateways it runs. */
function ofProcess(): Registry {
  if (processRegistry !== undefined) return processRegistry
  processRegistry = new Registry()
  collectDefaultMetrics({ register: processRegistry })
  return processRegistry
}
