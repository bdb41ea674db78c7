import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installed } from '../../test/support/services/package-managers.ts'

/** A program that is not ours: how it tells its version, and the packages that bring it. */
interface Tool {
  readonly asked: string
  readonly says: RegExp
  readonly package: string
  readonly dnf?: string
}

const tools = {
  wrk: { asked: '--version', says: /^wrk (\S+)/, package: 'wrk' },
  nginx: { asked: '-v', says: /nginx\/(\S+)/, package: 'nginx-light', dnf: 'nginx' },
  haproxy: { asked: '-v', says: /version (\S+)/, package: 'haproxy' },
} as const satisfies Record<string, Tool>

export type ToolName = keyof typeof tools

/** The program on the path or where servers are put, if there is one. */
export function findTool(name: ToolName): string | undefined {
  const places = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return places.map((place) => join(place, name)).find((program) => existsSync(program))
}

/** What it says its version is. */
export function versionOf(name: ToolName): string {
  const program = findTool(name)
  if (program === undefined) return 'absent'
  const { stdout, stderr } = spawnSync(program, [tools[name].asked], { encoding: 'utf8' })
  return tools[name].says.exec(stdout + stderr)?.[1] ?? 'unknown'
}

/** Installs what is missing with the system's package manager, where that needs no password. */
export function installTool(name: ToolName): void {
  const tool: Tool = tools[name]
  if (findTool(name) === undefined) installPackage(name, tool.package, tool.dnf)
}

/** The same for a package that is no program. */
export function installPackage(name: string, debian: string, others = name): boolean {
  return installed(name, { 'apt-get': debian, apk: others, dnf: others, brew: others })
}
