import { only, render, type Values } from './chart.ts'

export interface Container {
  readonly name: string
  readonly restartPolicy?: string
  readonly readinessProbe?: unknown
  readonly lifecycle?: { readonly preStop?: { readonly exec: { readonly command: string[] } } }
}
/** What ends in a pod, and when. */
export interface SidecarPod {
  readonly terminationGracePeriodSeconds: number
  readonly initContainers?: readonly Container[]
  readonly containers: readonly Container[]
}

/** The values for a service behind Postern in one pod. */
export const sidecar: Values = { files: ['existing-secrets', 'sidecar'] }
export const preStop = ['appShutdown.order=preStop']

/** The pod of the gateway as helm renders it. */
export function podOf(values: Values): SidecarPod {
  const { spec } = only(render(values), 'Deployment')
  return (spec as { template: { spec: SidecarPod } }).template.spec
}
