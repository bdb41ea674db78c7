import { existsSync } from 'node:fs'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { testSecret } from '../../test/support/tokens.ts'
import type { Launch, Peer, Setting } from './peer.ts'
import { fileOfPeers } from './places.ts'
import { createRules, type Rule } from './rules.ts'
import { fill } from './template.ts'
import { findTool, versionOf } from './tools.ts'

/** Where Debian and others put nginx's modules. */
const modulePlaces = ['/usr/lib/nginx/modules', '/usr/lib64/nginx/modules', '/etc/nginx/modules']

const njsRules = 1000

/** nginx as a plain proxy, and with njs doing the same job. */
export const nginxPeers: readonly Peer[] = [
  {
    name: 'nginx',
    title: 'nginx',
    kind: 'plain',
    version: () => `nginx ${versionOf('nginx')}`,
    absent: () => (findTool('nginx') === undefined ? 'nginx is not installed' : undefined),
    prepare: (setting) => prepare('nginx.conf', setting),
  },
  {
    name: 'nginx-njs',
    title: 'nginx + njs',
    kind: 'checked',
    rules: njsRules,
    version: () => `nginx ${versionOf('nginx')}`,
    absent: () =>
      findTool('nginx') === undefined || findNjs() === undefined
        ? 'nginx with the module njs is not installed'
        : undefined,
    async prepare(setting) {
      const rules = `export default ${njsTable(createRules(njsRules))}\n`
      await writeFile(join(setting.directory, 'rules.js'), rules)
      const script = 'nginx-njs.js'
      await copyFile(fileOfPeers(script), join(setting.directory, script))
      return prepare('nginx-njs.conf', setting)
    },
  },
]

/** The directory with nginx's module for JavaScript, if there is one. */
export function findNjs(): string | undefined {
  return modulePlaces.find((place) => existsSync(join(place, 'ngx_http_js_module.so')))
}

async function prepare(template: string, setting: Setting): Promise<Launch> {
  const file = join(setting.directory, 'nginx.conf')
  const user = userInfo().uid === 0 ? 'user root;' : ''
  const values = { ...setting, user, modules: findNjs() ?? '' }
  await writeFile(file, fill(await readFile(fileOfPeers(template), 'utf8'), values))
  const args = ['-p', setting.directory, '-e', 'stderr', '-c', file, '-g', 'daemon off;']
  return { program: findTool('nginx') ?? 'nginx', args }
}

/** role -> method -> patterns, as JavaScript. */
function njsTable(rules: readonly Rule[]): string {
  const roles = Object.entries(Object.groupBy(rules, ({ role }) => role)).map(
    ([role, own = []]) => {
      const methods = Object.entries(Object.groupBy(own, ({ method }) => method))
      const patterns = methods.map(
        ([method, list = []]) =>
          `${method}: [${list.map(({ path }) => njsPattern(path)).join(', ')}]`,
      )
      return `'${role}': { ${patterns.join(', ')} }`
    },
  )
  return `{ secret: '${testSecret}', rules: {\n${roles.join(',\n')}\n} }`
}

function njsPattern(path: string): string {
  return `/^${path.replaceAll('/', '\\/').replace(':id', '[^\\/]+')}$/`
}
