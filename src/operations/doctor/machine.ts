import { statfs } from 'node:fs/promises'
import { versions } from 'node:process'
import type { Config } from '../../config/schema/schema.ts'
import { isTooOld, oldestNode } from '../../kernel/version.ts'
import { nearestExisting } from '../../operations/config/file-facts.ts'
import { descriptorNeeds } from '../../workers/descriptors.ts'
import { shareOf } from '../../workers/share.ts'
import { workerCount } from '../../workers/worker-count.ts'
import type { Report } from './run-checks.ts'

export function checkNode(report: Report): void {
  const { node } = versions
  if (!isTooOld(node)) report.ok(`Node ${node}`)
  else report.problem(`Node ${node} is too old`, `install Node ${oldestNode} or a later version`)
}

/** The limit is that of the shell: a service manager sets another one. */
export function checkDescriptors(report: Report, config: Config): void {
  const { count } = workerCount(config)
  const { limit, needed } = descriptorNeeds(shareOf(config, count))
  const shown = (number: number) => number.toLocaleString('en-US')
  if (limit === undefined) report.ok('this system reports no limit')
  else if (limit >= needed) {
    report.ok(`${shown(limit)} allowed in this shell, ${shown(needed)} needed`)
  } else {
    report.warning(
      `${shown(limit)} allowed in this shell, but ${shown(needed)} needed for limits.connections (${shown(config.limits.connections)}): clients are refused before that`,
      `raise the limit of the gateway to ${needed} (ulimit -n, LimitNOFILE of the unit), or lower limits.connections`,
    )
  }
}

const mebibyte = 1024 * 1024
/** A new embedded database takes 40 MiB. */
const fullBytes = 64 * mebibyte
const lowBytes = 1024 * mebibyte

/** Whether the file system of this path has room for what a gateway writes there. */
export async function checkSpace(report: Report, setting: string, path: string): Promise<void> {
  const existing = await nearestExisting(path)
  const { bavail, blocks, bsize } = await statfs(existing)
  const free = bavail * bsize
  const message = `${existing} has ${sizeOf(free)} free`
  const fix = `free space there, or point ${setting} to another file system`
  if (blocks === 0) report.ok(`${existing} reports no size`)
  else if (free < fullBytes) report.problem(message, fix)
  else if (free < lowBytes) report.warning(message, fix)
  else report.ok(message)
}

function sizeOf(bytes: number): string {
  const mebibytes = bytes / mebibyte
  return mebibytes < 1024 ? `${Math.floor(mebibytes)} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`
}
