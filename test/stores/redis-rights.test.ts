import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { clusterRights, gatewayRights, sentinelRights } from '../support/redis-users.ts'

const sources = readdirSync('src/stores', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:ts|lua)$/.test(name))
  .map((name) => readFileSync(`src/stores/${name}`, 'utf8'))
  .join('\n')
const docs = readFileSync('docs/stores.md', 'utf8')

test('the documented Redis user may send every command that the stores send', () => {
  const inScripts = sources.matchAll(/redis\.p?call\(\s*'(?<name>[A-Z]+)'/g)
  const direct = sources.matchAll(/\bcommands\s*\.(?<name>[a-z]+)\(/g)
  const raw = sources.matchAll(/\.call(?:Buffer)?\('(?!SENTINEL)(?<name>[A-Z]+)'/g)
  const used = [...inScripts, ...direct, ...raw].map(({ groups }) => groups?.['name'] ?? '')

  expect(used.length).toBeGreaterThan(50)
  const missing = used.map((name) => `+${name.toLowerCase()}`)
  expect(missing.filter((right) => !gatewayRights.includes(right) && right !== '+call')).toEqual([])
})

test('docs/stores.md has the rights that the tests are run with', () => {
  expect(docs).toContain(`user postern on >PASSWORD ${gatewayRights.join(' ')}\n`)
  expect(docs).toContain(clusterRights.join(' '))
  expect(docs).toContain(`user postern on >PASSWORD ${sentinelRights.join(' ')}\n`)
})
