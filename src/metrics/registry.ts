import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from '@prometheus-io/client'
import { createCounts } from './counts.ts'
import { createQuickHistogram } from './quick-histogram.ts'
import { type FigureSnapshot, type WholeRule, wholeRuleOf } from './snapshot.ts'

/** What a figure is called and what it says. Labels take values from closed lists only. */
interface Figure<Label extends string> {
  readonly name: string
  readonly help: string
  readonly labels?: readonly Label[]
  /** For gauges: what the figure of several workers is. Without it each worker has its own. */
  readonly whole?: WholeRule
}

/** A counter, and the label values whose series it shows at 0 before the first event. */
interface CounterFigure<Label extends string> extends Figure<Label> {
  readonly fromZero?: readonly (readonly string[])[]
}

/** One value that is read when somebody asks. */
export interface Reading<Label extends string> {
  readonly value: number
  readonly labels?: Readonly<Record<Label, string>>
}

/** All figures of one gateway, in the form that Prometheus reads. */
export interface Figures {
  /** Something that is counted as it happens; the returned function counts one. */
  counter<Label extends string>(figure: CounterFigure<Label>): (...labels: string[]) => void
  /** Something that took time, in seconds; at most one label. */
  duration(
    figure: Omit<Figure<string>, 'labels'> & DurationShape,
  ): (seconds: number, label?: string) => void
  /** Something that another part counts, read when it is asked for. */
  readCounter<Label extends string>(
    figure: Figure<Label>,
    read: () => readonly Reading<Label>[],
  ): void
  /** Something that goes up and down, read when it is asked for. */
  readGauge<Label extends string>(
    figure: Figure<Label>,
    read: () => readonly Reading<Label>[],
  ): void
  /** Every figure, those of the process included. */
  text(): Promise<string>
  /** The same as data, for whoever adds up several processes; `own` leaves out the process. */
  snapshot(which?: 'own'): Promise<readonly FigureSnapshot[]>
  readonly contentType: string
}

/** By what a duration is told apart, and what it can be. */
interface DurationShape {
  readonly label?: string
  /** Upper bounds in seconds; from a cached answer to the default limit of an upstream if absent. */
  readonly buckets?: readonly number[]
}

const usualBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Without readings a metric has no samples. `reset` alone leaves one without labels, at 0. */
function clear(metric: Gauge<string> | Counter<string>): void {
  metric.reset()
  metric.remove({})
}

/** Figures without values yet. */
export function createFigures(): Figures {
  const registry = new Registry()
  const registers = [registry]
  const rules = new Map<string, WholeRule>()

  function readCounter(
    { name, help, labels = [] }: Figure<string>,
    read: () => readonly Reading<string>[],
  ): void {
    new Counter<string>({
      name,
      help,
      labelNames: [...labels],
      registers,
      collect() {
        clear(this)
        for (const { labels = {}, value } of read()) this.inc(labels, value)
      },
    })
  }

  return {
    counter(figure) {
      const counts = createCounts(figure.labels ?? [], figure.fromZero)
      readCounter(figure, counts.readings)
      return counts.add
    },
    duration({ name, help, label, buckets = usualBuckets }) {
      const { observe, get } = createQuickHistogram({ name, help, label, buckets })
      // The library asks a metric for nothing but this.
      registry.registerMetric({ name, get } as unknown as Metric)
      return observe
    },
    readCounter,
    readGauge({ name, help, labels = [], whole }, read) {
      if (whole !== undefined) rules.set(name, whole)
      new Gauge<string>({
        name,
        help,
        labelNames: [...labels],
        registers,
        collect() {
          // A revision that is no longer active must not stay in the list.
          clear(this)
          for (const { labels = {}, value } of read()) this.set(labels, value)
        },
      })
    },
    text: async () => `${await registry.metrics()}${await ofProcess().metrics()}`,
    async snapshot(which) {
      const sources = which === 'own' ? [registry] : [registry, ofProcess()]
      const metrics = sources.map((one) => one.getMetricsAsJSON())
      return (await Promise.all(metrics)).flat().map(({ name, help, type, values }) => ({
        name,
        help,
        type,
        whole: rules.get(name) ?? wholeRuleOf(name),
        values: values.map((one) => ({ ...one, labels: labelsOf(one) })),
      }))
    },
    contentType: registry.contentType,
  }
}

/** The library leaves labels out where there are none, whatever its types say. */
function labelsOf({ labels }: { labels?: object }): FigureSnapshot['values'][number]['labels'] {
  return { ...labels }
}

/** Snapshots in the form that Prometheus reads. */
export function figuresText(figures: readonly FigureSnapshot[]): Promise<string> {
  return Registry.aggregate([figures]).metrics()
}

let processRegistry: Registry | undefined

/** Memory, CPU and event loop: of the process, however many gateways it runs. */
function ofProcess(): Registry {
  if (processRegistry !== undefined) return processRegistry
  processRegistry = new Registry()
  collectDefaultMetrics({ register: processRegistry })
  return processRegistry
}
