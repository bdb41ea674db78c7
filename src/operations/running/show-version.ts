import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { arch, platform, versions } from 'node:process'
import { fileURLToPath } from 'node:url'
import { builtFrom, version } from '../../kernel/version.ts'
import type { Context } from '../context.ts'
import type { RunOf } from '../operation.ts'
import type { version as described } from './descriptions.ts'

/** What a bug report needs. */
export const run: RunOf<typeof described> = async (_, { env }) => {
  const system = { node: versions.node, platform: `${platform}-${arch}` }
  return { document: { version, commit: commit(env), ...system } }
}

const checkout = new URL('../../../', import.meta.url)

/** The commit that this program was built from, `-dirty` when files had changed, or `unknown`. */
function commit(env: Context['env']): string {
  return /^[0-9a-f]{7,64}(?:-dirty)?$/.exec(builtFrom || askGit(env).trim())?.[0] ?? 'unknown'
}

function askGit(env: Context['env']): string {
  // Elsewhere, such as in node_modules, git would answer for the project around it.
  if (!existsSync(new URL('.git', checkout))) return ''
  const foreign = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE']
  const own = Object.entries(env).filter(([name]) => !foreign.includes(name))
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'], {
      cwd: fileURLToPath(checkout),
      env: Object.fromEntries(own),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5000,
    })
  } catch {
    return ''
  }
}
