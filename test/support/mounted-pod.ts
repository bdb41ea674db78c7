import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Manifest } from './chart.ts'

interface Item {
  readonly key: string
  readonly path: string
}
interface Source {
  readonly name?: string
  readonly secretName?: string
  readonly items?: readonly Item[]
}
interface Volume {
  readonly name: string
  readonly configMap?: Source
  readonly secret?: Source
  readonly projected?: { readonly sources: readonly { readonly secret?: Source }[] }
}
interface Container {
  readonly name: string
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
}
export interface PodSpec {
  readonly containers: readonly Container[]
  readonly volumes?: readonly Volume[]
}

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/**
 * Puts the ConfigMaps and Secrets of a pod where its first container would find them, the way that
 * the kubelet does, below a directory of this machine; and runs `postern` there with that
 * container's arguments and environment. What Kubernetes itself would refuse is thrown.
 */
export function runInPod(
  { containers: [container], volumes = [] }: PodSpec,
  { objects, args }: { readonly objects: readonly Manifest[]; readonly args?: readonly string[] },
) {
  if (container === undefined) throw new Error('a pod without a container')
  const root = mkdtempSync(join(tmpdir(), 'postern-pod-'))
  const mounts = container.volumeMounts ?? []
  for (const { name, mountPath } of mounts) {
    const volume = volumes.find((each) => each.name === name)
    if (volume === undefined) throw new Error(`no volume ${name}`)
    fill(join(root, mountPath), filesOf(volume, objects))
  }

  const isMounted = (text: string) => mounts.some(({ mountPath }) => text.startsWith(mountPath))
  const here = (text: string) => (isMounted(text) ? join(root, text) : text)
  const env = Object.fromEntries(
    (container.env ?? []).map(({ name, value = '' }) => [name, here(value)]),
  )
  const { PATH, HOME } = process.env
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [main, ...(args ?? container.args ?? []).map(here)],
    { encoding: 'utf8', env: { PATH, HOME, ...env }, timeout: 180_000, cwd: root },
  )
  return { status, stdout, stderr }
}

type File = readonly [path: string, text: string]

function filesOf(volume: Volume, objects: readonly Manifest[]): readonly File[] {
  const { configMap, secret, projected } = volume
  if (configMap !== undefined) return selected(configMap, 'ConfigMap', objects)
  if (secret !== undefined) return selected(secret, 'Secret', objects)
  return (projected?.sources ?? []).flatMap(({ secret: part }) =>
    part === undefined ? [] : selected(part, 'Secret', objects),
  )
}

function selected(source: Source, kind: string, objects: readonly Manifest[]): readonly File[] {
  const name = source.name ?? source.secretName
  const found = objects.find((each) => each.kind === kind && each.metadata.name === name)
  if (found === undefined) throw new Error(`no ${kind} ${name}`)
  const data = Object.entries(found.data ?? {})
  const items = source.items ?? data.map(([key]) => ({ key, path: key }))
  return items.map(({ key, path }): File => {
    const text = data.find(([each]) => each === key)?.[1]
    if (text === undefined) throw new Error(`no key ${key} in ${kind} ${name}`)
    return [path, kind === 'Secret' ? Buffer.from(text, 'base64').toString() : text]
  })
}

/** A dated directory, a link to it, and links to what is in that: so that all changes at once. */
function fill(directory: string, files: readonly File[]): void {
  const data = join(directory, '..2026_11_15_00_00_00.1')
  mkdirSync(data, { recursive: true })
  symlinkSync('..2026_11_15_00_00_00.1', join(directory, '..data'))
  for (const [path, text] of files) {
    mkdirSync(dirname(join(data, path)), { recursive: true })
    writeFileSync(join(data, path), text)
  }
  for (const top of new Set(files.map(([path]) => path.split('/')[0] ?? path))) {
    symlinkSync(join('..data', top), join(directory, top))
  }
}
