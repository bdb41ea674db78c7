import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { tools } from './chart.ts'

/** One selector of an expression: `name{label="value"}`. */
export interface Selector {
  readonly metric: string
  readonly labels: readonly { readonly name: string; readonly value: string }[]
}

interface Node {
  readonly name: string
  readonly from: number
  readonly to: number
  readonly type: { readonly isError: boolean }
}
interface Parser {
  parse(text: string): { iterate(spec: { enter(node: Node): void }): void }
}

const place = join(tools.packages, '@prometheus-io', 'lezer-promql', 'dist', 'index.es.js')
const { parser } = (await import(pathToFileURL(place).href)) as { readonly parser: Parser }

/** What an expression selects, by the grammar of Prometheus. Throws where it does not follow that. */
export function selectorsIn(expression: string): readonly Selector[] {
  // Grafana puts durations in their place.
  const text = expression.replace(/\$__(?:rate_interval|range|interval)/g, '5m')
  const selectors: { metric: string; labels: { name: string; value: string }[] }[] = []
  let inMatcher = false
  parser.parse(text).iterate({
    enter({ name, from, to, type }) {
      const part = text.slice(from, to)
      const last = selectors.at(-1)
      if (type.isError)
        throw new Error(`not PromQL near "${text.slice(from - 20, to + 20)}": ${text}`)
      if (name === 'VectorSelector') selectors.push({ metric: '', labels: [] })
      if (name === 'Identifier' && last !== undefined) last.metric = part
      if (name === 'UnquotedLabelMatcher') inMatcher = true
      if (name === 'LabelName' && inMatcher) last?.labels.push({ name: part, value: '' })
      const label = last?.labels.at(-1)
      if (name === 'StringLiteral' && inMatcher && label !== undefined) {
        label.value = part.slice(1, -1)
        inMatcher = false
      }
    },
  })
  return selectors
}
