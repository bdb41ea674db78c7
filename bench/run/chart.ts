import { figureOf, figureText, fullTitle, type Report, type ReportedPeer } from './report.ts'

interface Bar {
  readonly label: string
  readonly value: number
  readonly kind: ReportedPeer['kind']
}

const width = 900
const labelWidth = 360
const barWidth = 440
const rowHeight = 24
const panelGap = 60
const margin = 12
const top = 84

/** Longer bars than this times the median are cut, or the others could not be told apart. */
const cutAt = 3

const kinds = { plain: 'checks nothing', checked: 'does the same job', ours: 'Postern' } as const

const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; }
  .panel { font-weight: 600; }
  .soft { fill: #59636e; }
  .plain { fill: #9aa4af; } .checked { fill: #d1843a; } .ours { fill: #1a7f5a; }
  .cut { stroke: #ffffff; stroke-width: 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .soft { fill: #9198a1; }
    .plain { fill: #6e7781; } .checked { fill: #e09b55; } .ours { fill: #3fb68b; }
    .cut { stroke: #0d1117; }
  }`

const panels = [
  { workload: 'get', title: 'Small GET on one path, 64 connections' },
  { workload: 'ids', title: 'Small GET with another id in every path, 64 connections' },
] as const

/** CPU time of each request, least first: an SVG that can be read on white and on black. */
export function drawChart(report: Report): string {
  const parts: string[] = []
  let y = top
  for (const { workload, title } of panels) {
    const bars = barsOf(workload, report)
    parts.push(`<text class="panel" x="0" y="${y}">${title}</text>`)
    parts.push(...drawBars(bars, y + 14))
    y += bars.length * rowHeight + panelGap
  }
  const height = y - panelGap + 30
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-margin} ${-margin} ${width + 2 * margin} ${height + margin}" width="${width}" role="img" aria-label="CPU time per request of Postern and its peers">
<style>${style}
</style>
<text class="title" x="0" y="20">CPU time per request, in microseconds; less is better</text>
${legend()}
${parts.join('\n')}
</svg>
`
}

function barsOf(workload: string, report: Report): readonly Bar[] {
  return report.peers
    .filter(({ kind, name }) => kind !== 'ours' || name === 'postern')
    .flatMap((peer) => {
      const value = figureOf(report, { peer: peer.name, workload }, 'cpuMicros')
      return value === undefined ? [] : { label: fullTitle(peer), value, kind: peer.kind }
    })
    .sort((one, other) => one.value - other.value)
}

function drawBars(bars: readonly Bar[], y: number): readonly string[] {
  const middle = bars[bars.length >> 1]?.value ?? 0
  const longest = Math.min(bars.at(-1)?.value ?? 0, middle * cutAt)
  return bars.map(({ label, value, kind }, at) => {
    const line = y + at * rowHeight
    const length = Math.max(2, (Math.min(value, longest) / longest) * barWidth)
    const end = labelWidth + length
    const cut =
      value > longest
        ? `<path class="cut" d="M${end - 18} ${line + 18} l8 -18 M${end - 10} ${line + 18} l8 -18"/>`
        : ''
    return (
      `<text x="${labelWidth - 10}" y="${line + 14}" text-anchor="end">${escaped(label)}</text>` +
      `<rect class="${kind}" x="${labelWidth}" y="${line + 1}" width="${length.toFixed(1)}" height="17" rx="2"/>` +
      `${cut}<text x="${(end + 8).toFixed(1)}" y="${line + 14}">${figureText(value)}</text>`
    )
  })
}

function legend(): string {
  return Object.entries(kinds)
    .map(
      ([kind, text], at) =>
        `<rect class="${kind}" x="${at * 170}" y="34" width="14" height="14" rx="2"/>` +
        `<text class="soft" x="${at * 170 + 20}" y="46">${text}</text>`,
    )
    .join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
