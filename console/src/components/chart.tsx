import { useState } from 'preact/hooks'
import { formatNumber } from '../lib/numbers.ts'
import { highestMark, linesOf } from '../lib/plot.ts'
import { formatClock } from '../lib/times.ts'
import { language } from '../state/preferences.ts'
import { useStore } from '../state/store.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'

export interface Series {
  readonly id: string
  readonly title: string
  /** `undefined`: not known. */
  readonly values: readonly (number | undefined)[]
}

interface ChartProps {
  readonly title: string
  /** The times of the values, in milliseconds. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
}

const [width, height] = [600, 140]

/** Lines over time, and the same values as a table for those who cannot see or tell the lines apart. */
export function Chart({ title, times, series }: ChartProps) {
  const texts = useTexts(commonTexts)
  const reader = useStore(language)
  const known = series.flatMap(({ values }) => values.filter((value) => value !== undefined))
  const top = highestMark(Math.max(0, ...known))
  const [isOpen, setOpen] = useState(false)
  const [first, last] = [times[0], times.at(-1)]
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <ul class="legend">
        {series.map((each, at) => (
          <li key={each.id}>
            <span class={`swatch series-${at + 1}`} aria-hidden="true" />
            {each.title} <span class="latest">{formatKnown(each.values.at(-1))}</span>
          </li>
        ))}
      </ul>
      <div class="plot">
        <span class="top">{formatNumber(top)}</span>
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          <line class="grid" x1="0" x2={width} y1="0.5" y2="0.5" />
          <line class="grid" x1="0" x2={width} y1={height / 2} y2={height / 2} />
          <line class="axis" x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} />
          {series.map(({ id, values }, at) => (
            <g key={id} class={`series-${at + 1}`}>
              {linesOf(values, { width, height, top }).map((points) => (
                <polyline key={points} class="line" points={points} />
              ))}
            </g>
          ))}
        </svg>
      </div>
      <p class="times">
        <span>{first !== undefined && formatClock(reader, first)}</span>
        <span>{last !== undefined && formatClock(reader, last)}</span>
      </p>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{texts.values}</summary>
        {isOpen && <Values title={title} times={times} series={series} />}
      </details>
    </figure>
  )
}

/** The latest first. */
function Values({ title, times, series }: ChartProps) {
  const texts = useTexts(commonTexts)
  const reader = useStore(language)
  return (
    <table class="table">
      <caption class="hidden">{title}</caption>
      <thead>
        <tr>
          <th scope="col">{texts.time}</th>
          {series.map((each) => (
            <th key={each.id} scope="col" class="number">
              {each.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {times
          .map((at, index) => (
            <tr key={at}>
              <th scope="row">{formatClock(reader, at)}</th>
              {series.map(({ id, title: name, values }) => (
                <td key={id} class="number" data-label={name}>
                  {formatKnown(values[index])}
                </td>
              ))}
            </tr>
          ))
          .toReversed()}
      </tbody>
    </table>
  )
}

function formatKnown(value: number | undefined): string | undefined {
  return value === undefined ? undefined : formatNumber(value)
}
