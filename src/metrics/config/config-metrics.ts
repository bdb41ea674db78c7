import type { MetricRegistry } from '../registry.ts'
import { addReloadMetrics, type Reloads } from '../reload-metrics.ts'

interface ConfigReading {
  readonly revision: string
  readonly lastReload: string
  readonly lastError: string | undefined
  readonly needRestart: readonly string[]
  readonly reloads: Reloads
}

/** Shows which configuration is active, and whether the last reload succeeded. */
export function addConfigMetrics(registry: MetricRegistry, read: () => ConfigReading): void {
  addReloadMetrics(
    registry,
    {
      prefix: 'postern_config',
      total: 'Configuration reloads, by result.',
      success: '0 while the configuration file cannot be used and an older one is active.',
    },
    () => ({ reloads: read().reloads, isWell: read().lastError === undefined }),
  )
  registry.readGauge(
    {
      name: 'postern_config_info',
      help: 'The revision of the active configuration.',
      labels: ['revision'],
      aggregate: 'max',
    },
    () => [{ value: 1, labels: { revision: read().revision } }],
  )
  registry.readGauge(
    {
      name: 'postern_config_last_reload_timestamp_seconds',
      help: 'When the configuration was last read, successfully or not.',
      aggregate: 'max',
    },
    () => [{ value: Date.parse(read().lastReload) / 1000 }],
  )
  registry.readGauge(
    {
      name: 'postern_config_restart_needed',
      help: 'Changed settings that only a restart applies.',
      aggregate: 'max',
    },
    () => [{ value: read().needRestart.length }],
  )
}
