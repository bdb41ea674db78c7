import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { findChartTools } from './services/find-helm.ts'

export const tools = findChartTools()

/** An object of Kubernetes as helm rendered it. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: unknown
  readonly data?: Readonly<Record<string, string>>
}

const chart = join(import.meta.dirname, '..', '..', 'helm', 'postern')

/** Values files of test/helm/values, by name (or by path, without the ending), and settings such as `replicaCount=3` after them. */
export interface Values {
  readonly files: readonly string[]
  readonly set?: readonly string[]
  /** Version of the cluster; 1.31.0 if nothing else is said. */
  readonly kubeVersion?: string
  /** Kinds that the cluster has, such as `v1/Pod`; without them helm renders for no cluster. */
  readonly kinds?: readonly string[]
  /** Setting to path of a file with its text. */
  readonly setFile?: Readonly<Record<string, string>>
}

/** What `helm template` makes of the chart; release `shop` in namespace `web`. */
export function render(values: Values): readonly Manifest[] {
  return rendered(runHelm('template', values))
}

/**
 * What `helm template` makes of another chart, which has this one as a dependency named `postern` with
 * `condition: postern.enabled`. `own` are its values.
 */
export function renderAsSubchart(own: unknown): readonly Manifest[] {
  const parent = mkdtempSync(join(tmpdir(), 'postern-parent-'))
  try {
    cpSync(chart, join(parent, 'charts', 'postern'), { recursive: true })
    const dependencies = [{ name: 'postern', version: '0.1.0', condition: 'postern.enabled' }]
    const about = { apiVersion: 'v2', name: 'shop', version: '1.0.0', dependencies }
    writeFileSync(join(parent, 'Chart.yaml'), JSON.stringify(about))
    writeFileSync(join(parent, 'values.yaml'), JSON.stringify(own))
    return rendered(runHelm('template', { files: [] }, parent))
  } finally {
    rmSync(parent, { recursive: true, force: true })
  }
}

function rendered({ status, stdout, stderr }: ReturnType<typeof runHelm>): readonly Manifest[] {
  if (status !== 0) throw new Error(stderr)
  return parseAllDocuments(stdout).flatMap((document) => {
    // A key twice, a tab, a template that rendered half a line.
    if (document.errors.length > 0) throw document.errors[0]
    const manifest = document.toJS() as Manifest | null
    return manifest === null ? [] : [manifest]
  })
}

/**
 * What helm tells whoever has installed the release. `helm template` leaves it out, and `helm install`
 * wants a cluster; so it is rendered as the content of a ConfigMap, in a copy of the chart.
 */
export function notes(values: Values): string {
  const copy = mkdtempSync(join(tmpdir(), 'postern-chart-'))
  try {
    cpSync(chart, copy, { recursive: true })
    cpSync(join(chart, 'templates', 'NOTES.txt'), join(copy, 'notes.txt'))
    writeFileSync(
      join(copy, 'templates', 'notes.yaml'),
      `{"kind":"Notes","metadata":{"name":"notes"},"data":{"text":{{ tpl (.Files.Get "notes.txt") . | toJson }}}}`,
    )
    const { status, stdout, stderr } = runHelm('template', values, copy)
    if (status !== 0) throw new Error(stderr)
    const [found] = parseAllDocuments(stdout)
      .map((document) => document.toJS() as Manifest | null)
      .filter((manifest) => manifest?.kind === 'Notes')
    return found?.data?.['text'] ?? ''
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** Why helm does not render the chart with these values; empty when it does. */
export function refusal(values: Values): string {
  const { status, stderr } = runHelm('template', values)
  return status === 0 ? '' : stderr
}

/** What `helm lint --strict` says; empty when nothing is wrong. */
export function lint(values: Values): string {
  const { status, stdout, stderr } = runHelm('lint', values)
  return status === 0 ? '' : `${stdout}${stderr}`
}

function runHelm(
  command: 'template' | 'lint',
  { files, set = [], setFile = {}, kinds = [], kubeVersion = '1.31.0' }: Values,
  from = chart,
) {
  const values = join(import.meta.dirname, '..', 'helm', 'values')
  const args = [
    ...files.flatMap((name) => [
      '--values',
      name === 'sidecar' ? join(chart, 'values-sidecar.yaml') : resolve(values, `${name}.yaml`),
    ]),
    ...set.flatMap((one) => ['--set', one]),
    ...kinds.flatMap((kind) => ['--api-versions', kind]),
    ...Object.entries(setFile).flatMap(([key, path]) => ['--set-file', `${key}=${path}`]),
  ]
  const how =
    command === 'template'
      ? ['template', 'shop', from, '--namespace', 'web', '--kube-version', kubeVersion]
      : ['lint', from, '--strict']
  return spawnSync(tools.helm, [...how, ...args], { encoding: 'utf8', timeout: 180_000 })
}

/** The one object of that kind, and of that name where there are several. */
export function only(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = manifests.filter(
    (manifest) => manifest.kind === kind && (name === undefined || manifest.metadata.name === name),
  )
  const [first] = found
  if (first === undefined || found.length > 1) {
    throw new Error(`${found.length} of kind ${kind}${name === undefined ? '' : ` named ${name}`}`)
  }
  return first
}

/** Kinds of other projects: Kubernetes has no schema for them. */
export const foreignKinds: readonly string[] = [
  'ServiceMonitor',
  'PrometheusRule',
  'HTTPRoute',
  'GRPCRoute',
  'Middleware',
  'SecurityPolicy',
  'ExtensionService',
  'AuthorizationPolicy',
]

/** Throws what Kubernetes would object to. */
export async function validate(manifest: Manifest): Promise<void> {
  const { apiVersion, kind } = manifest
  const path = join(tools.packages, 'kubernetes-models', apiVersion, `${kind}.js`)
  const module = (await import(pathToFileURL(path).href)) as Readonly<
    Record<string, new (data: unknown) => { validate(): void }>
  >
  const Model = module[kind]
  if (Model === undefined) throw new Error(`no schema for ${apiVersion} ${kind}`)
  new Model(manifest).validate()
}
