import type { Config } from '../config/schema/schema.ts'
import type { Part } from '../fleet/part.ts'
import type { Closing } from '../kernel/closing.ts'
import { createMetricRegistry } from '../metrics/registry.ts'

/** A part, and how it takes the settings that reload. */
interface ServedPart extends Part {
  readonly apply?: (config: Config) => void | Promise<void>
}

/** The parts of one process, in the order in which they were opened. */
export type Assembly = ReturnType<typeof createAssembly>

export function createAssembly(closing: Closing) {
  const registry = createMetricRegistry()
  const parts: ServedPart[] = []
  return {
    registry,
    add(part: ServedPart): void {
      parts.push(part)
      part.metrics?.(registry)
      if (part.close !== undefined) closing.add(part.close)
    },
    checks: () => parts.flatMap(({ checks }) => checks ?? []),
    details: (): NonNullable<Part['details']> =>
      Object.assign({}, ...parts.map(({ details }) => details)),
    facts: (): ReturnType<NonNullable<Part['facts']>> =>
      Object.assign({}, ...parts.map(({ facts }) => facts?.())),
    /** The last part first: the gateway may refuse a file, and then nothing else has changed. */
    async apply(config: Config): Promise<void> {
      for (const part of parts.toReversed()) await part.apply?.(config)
    },
  }
}
