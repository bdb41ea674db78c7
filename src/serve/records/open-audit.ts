import type { MetricRegistry } from '../../metrics/registry.ts'
import type { AuditEntry } from '../../stores/audit/audit.ts'
import { gatewayActor } from '../../stores/audit/audit.ts'
import type { AuditAction } from '../../stores/audit/audit-action.ts'
import { type AuditQueue, createAuditQueue } from '../../stores/audit/audit-queue.ts'
import type { Database } from '../../stores/database/database.ts'
import type { OpenKeys } from '../../stores/keys/key-feed.ts'
import type { OpenPolicySource } from '../../stores/policies/open-policy-source.ts'
import type { Assembly } from '../assembly.ts'
import type { ServeOptions } from '../options.ts'

interface Watched {
  readonly action: AuditAction
  readonly subject: string
  /** What the gateway uses now. */
  readonly read: () => NonNullable<AuditEntry['after']>
  readonly onChange: (listener: () => void) => void
}

/**
 * Records which keys and policy files the gateway loads, at its start and whenever they change. Nobody
 * runs a command for these, so nothing else could say that they changed.
 */
export function openAudit(
  { config, log, asWorker }: ServeOptions,
  parts: {
    readonly database: Database
    readonly keys: OpenKeys
    readonly policies: OpenPolicySource
  },
  assembly: Assembly,
): void {
  const { database, keys, policies } = parts
  const queue = createAuditQueue({ database, log })
  assembly.add({ metrics: (registry) => addMetrics(registry, queue), close: queue.close })
  // All workers load the same files. When the first one restarts, its start finds what it missed.
  if (asWorker !== undefined && asWorker.number !== 1) return

  const { keyDirectory } = config.jwt
  if (keyDirectory !== undefined) {
    watch(queue, {
      ...{ action: 'keys.load', subject: keyDirectory, onChange: keys.onReload },
      read() {
        const { signer, keys: active } = keys.state()
        return { signer, kids: active.map(({ kid }) => kid) }
      },
    })
  }
  // Moves in Redis have an author; see `openMoveCopies`.
  if (config.policy.source !== 'files') return
  watch(queue, {
    ...{ action: 'policy.load', subject: config.policy.directory, onChange: policies.onAttempt },
    read: () => ({ revision: policies.revision() }),
  })
}

function watch(queue: AuditQueue, { action, subject, read, onChange }: Watched): void {
  const shared = { actor: gatewayActor(), action, subject }
  let before = read()
  queue.add({ ...shared, after: before }, { ifNew: true })
  onChange(() => {
    const after = read()
    if (JSON.stringify(after) === JSON.stringify(before)) return
    queue.add({ ...shared, before, after })
    before = after
  })
}

function addMetrics(registry: MetricRegistry, { state }: AuditQueue): void {
  registry.readGauge({
    name: 'postern_audit_entries_waiting',
    help: 'Audit entries that wait for the database.',
    aggregate: 'sum',
    read: () => state().waiting,
  })
  registry.readCounter({
    name: 'postern_audit_entries_dropped_total',
    help: 'Audit entries lost: too many waited, or the gateway ended without the database.',
    read: () => state().dropped,
  })
}
