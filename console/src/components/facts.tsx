import type { ComponentChildren } from 'preact'

type Fact = readonly [name: string, value: ComponentChildren]

/** Names and values below each other. Facts without a value are left out. */
export function Facts({ of }: { of: readonly Fact[] }) {
  const given = of.filter(([, value]) => value !== undefined && value !== null && value !== '')
  return (
    <dl class="facts">
      {given.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
