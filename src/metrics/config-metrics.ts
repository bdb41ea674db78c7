import { type MetricRegistry, secondsOf } from './registry.ts'
import { addReloadMetrics, type CountedReloads } from './reload-metrics.ts'

interface ConfigReading extends CountedReloads {
  readonly revision: string
  readonly lastReload: string
  readonly needRestart: readonly string[]
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
    read,
  )
  registry.readGauge({
    name: 'postern_config_info',
    help: 'The revision of the active configuration.',
    labels: ['revision'],
    aggregate: 'max',
    read: () => [[1, read().revision]],
  })
  registry.readGauge({
    name: 'postern_config_last_reload_timestamp_seconds',
    help: 'When the configuration was last read, successfully or not.',
    aggregate: 'max',
    read: () => secondsOf(read().lastReload),
  })
  registry.readGauge({
    name: 'postern_config_restart_needed',
    help: 'Changed settings that only a restart applies.',
    aggregate: 'max',
    read: () => read().needRestart.length,
  })
}
