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

const tableRules = 1000

/** nginx as a plain proxy, and with njs or Lua doing the same job. */
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
    rules: tableRules,
    version: () => `nginx ${versionOf('nginx')}`,
    absent: () =>
      findTool('nginx') === undefined || findNjs() === undefined
        ? 'nginx with the module njs is not installed'
        : undefined,
    async prepare(setting) {
      const rules = `export default ${njsTable(createRules(tableRules))}\n`
      await writeFile(join(setting.directory, 'rules.js'), rules)
      const script = 'nginx-njs.js'
      await copyFile(fileOfPeers(script), join(setting.directory, script))
      return prepare('nginx-njs.conf', setting)
    },
  },
  {
    name: 'nginx-lua',
    title: 'nginx + Lua',
    kind: 'checked',
    rules: tableRules,
    version: () => `nginx ${versionOf('nginx')}`,
    absent: () =>
      findTool('nginx') === undefined || findLua() === undefined || !hasCjson()
        ? 'nginx with the module lua, or its library lua-cjson, is not installed'
        : undefined,
    async prepare(setting) {
      const rules = `return ${luaTable(createRules(tableRules))}\n`
      await writeFile(join(setting.directory, 'rules.lua'), rules)
      const script = 'nginx-lua.lua'
      await copyFile(fileOfPeers(script), join(setting.directory, script))
      return prepare('nginx-lua.conf', setting)
    },
  },
]

/** The directory with nginx's module for JavaScript, if there is one. */
export function findNjs(): string | undefined {
  return modulePlaces.find((place) => existsSync(join(place, 'ngx_http_js_module.so')))
}

/** The same for Lua. */
export function findLua(): string | undefined {
  return modulePlaces.find((place) => existsSync(join(place, 'ngx_http_lua_module.so')))
}

/** Distributions package Lua's JSON library apart: the module comes without it. */
function hasCjson(): boolean {
  const system = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'
  const places = [`/usr/lib/${system}`, '/usr/lib', '/usr/lib64', '/usr/local/lib']
  return places.some((place) => existsSync(join(place, 'lua/5.1/cjson.so')))
}

/** The module for Lua needs that with tools for other modules, where it is not built in. */
function loadLua(): string {
  const place = findLua() ?? ''
  return ['ndk_http_module.so', 'ngx_http_lua_module.so']
    .map((name) => join(place, name))
    .filter((file) => existsSync(file))
    .map((file) => `load_module ${file};`)
    .join('\n')
}

async function prepare(template: string, setting: Setting): Promise<Launch> {
  const file = join(setting.directory, 'nginx.conf')
  const user = userInfo().uid === 0 ? 'user root;' : ''
  const values = { ...setting, user, modules: findNjs() ?? '', loadModules: loadLua() }
  await writeFile(file, fill(await readFile(fileOfPeers(template), 'utf8'), values))
  const args = ['-p', setting.directory, '-e', 'stderr', '-c', file, '-g', 'daemon off;']
  return { program: findTool('nginx') ?? 'nginx', args }
}

/** role -> method -> patterns, as JavaScript. */
function njsTable(rules: readonly Rule[]): string {
  const roles = byRole(rules).map(([role, methods]) => {
    const lists = methods.map(
      ([method, paths]) => `${method}: [${paths.map(njsPattern).join(', ')}]`,
    )
    return `'${role}': { ${lists.join(', ')} }`
  })
  return `{ secret: '${testSecret}', rules: {\n${roles.join(',\n')}\n} }`
}

function njsPattern(path: string): string {
  return `/^${path.replaceAll('/', '\\/').replace(':id', '[^\\/]+')}$/`
}

/** The same as Lua. */
function luaTable(rules: readonly Rule[]): string {
  const roles = byRole(rules).map(([role, methods]) => {
    const lists = methods.map(
      ([method, paths]) => `${method} = { ${paths.map(luaPattern).join(', ')} }`,
    )
    return `['${role}'] = { ${lists.join(', ')} }`
  })
  return `{ secret = '${testSecret}', rules = {\n${roles.join(',\n')}\n} }`
}

function luaPattern(path: string): string {
  return `'^${path.replace(':id', '[^/]+')}$'`
}

/** The paths of each method of each role. */
function byRole(rules: readonly Rule[]) {
  return Object.entries(Object.groupBy(rules, ({ role }) => role)).map(([role, own = []]) => {
    const methods = Object.entries(Object.groupBy(own, ({ method }) => method))
    return [
      role,
      methods.map(([method, list = []]) => [method, list.map(({ path }) => path)] as const),
    ] as const
  })
}
