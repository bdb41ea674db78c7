import { useMemo, useState } from 'preact/hooks'
import { highestMark, linesOf } from '../lib/plot.ts'
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
  const tag = useStore(language) === 'zh' ? 'zh-CN' : 'en'
  const time = useMemo(() => new Intl.DateTimeFormat(tag, { timeStyle: 'medium' }), [tag])
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
            {each.title} <span class="latest">{each.values.at(-1)?.toLocaleString(tag)}</span>
          </li>
        ))}
      </ul>
      <div class="plot">
        <span class="top">{top.toLocaleString(tag)}</span>
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
        <span>{first !== undefined && time.format(first)}</span>
        <span>{last !== undefined && time.format(last)}</span>
      </p>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{texts.values}</summary>
        {isOpen && <Values title={title} times={times} series={series} format={time.format} />}
      </details>
    </figure>
  )
}

interface ValuesProps extends ChartProps {
  readonly format: (time: number) => string
}

/** The latest first. */
function Values({ title, times, series, format }: ValuesProps) {
  const texts = useTexts(commonTexts)
  const tag = useStore(language) === 'zh' ? 'zh-CN' : 'en'
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
              <th scope="row">{format(at)}</th>
              {series.map(({ id, title: name, values }) => (
                <td key={id} class="number" data-label={name}>
                  {values[index]?.toLocaleString(tag)}
                </td>
              ))}
            </tr>
          ))
          .toReversed()}
      </tbody>
    </table>
  )
}
