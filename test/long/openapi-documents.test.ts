import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { createAdmission } from '../../src/admission/verdict.ts'
import { coverOperations } from '../../src/answers/coverage/coverage.ts'
import { readOpenApi } from '../../src/openapi/document.ts'
import { problemsOf } from '../openapi/documents.ts'
import { policies } from '../policy/policy-text.ts'

const folder = mkdtempSync(join(tmpdir(), 'postern-openapi-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A file of an npm package, which npm downloads; `undefined`, said once, without a registry. */
function packaged(name: string, path: string): Buffer | undefined {
  try {
    const options = { cwd: folder, stdio: 'pipe', timeout: 240_000 } as const
    const file = execFileSync('npm', ['pack', '--silent', name], options).toString().trim()
    execFileSync('tar', ['xzf', file, `package/${path}`], options)
    return readFileSync(join(folder, 'package', path))
  } catch {
    console.warn(`left out: npm cannot download ${name}`)
    return undefined
  }
}

const github = packaged('@octokit/openapi@23.0.2', 'generated/api.github.com.json')
const kubernetes = packaged('kubernetes-client@9.0.0', 'lib/specs/swagger-1.13.json.gz')

async function read(name: string, content: string | Uint8Array) {
  writeFileSync(join(folder, name), content)
  return readOpenApi({ path: join(folder, name), name })
}

describe('large public documents', () => {
  test.skipIf(github === undefined)('are the same as JSON and as YAML', async () => {
    const text = String(github)
    const json = await read('github.json', text)
    const yaml = await read(
      'github.yaml',
      stringify(JSON.parse(text), { aliasDuplicateObjects: false }),
    )

    expect(json.operations).toHaveLength(1223)
    const withoutPlace = ({ origin: _, ...rest }: (typeof json.operations)[number]) => rest
    expect(yaml.operations.map(withoutPlace)).toEqual(json.operations.map(withoutPlace))
  })

  test.skipIf(kubernetes === undefined)('are compared with rules for each operation', async () => {
    const { operations, version } = await read('k8s.json', gunzipSync(kubernetes ?? Buffer.of()))
    expect({ version, count: operations.length }).toEqual({ version: '2.0', count: 1014 })
    expect(operations.every(({ declaresSecurity }) => declaresSecurity)).toBe(true)

    // Every second operation gets a rule, so that every other one is for admin only.
    const chosen = operations.filter((_, at) => at % 2 === 0)
    const lines = chosen.map(
      ({ method, path }) => `p, clerk, ${path.replaceAll(/\{(\w+)\}/g, ':$1')}, ${method}`,
    )
    const admission = createAdmission({
      routes: undefined,
      endpoints: {
        logout: 'gateway',
        profile: 'gateway',
        password: 'gateway',
        captchaAlias: false,
      },
    })
    const coverage = coverOperations(operations, { admission, policies: policies({ lines }) })

    const open = coverage.operations.filter(({ kinds }) => kinds[0]?.access === 'roles')
    expect(open.map(({ operation }) => operation)).toEqual(chosen)
    expect(coverage.unmatched).toEqual([])
  })
})

test('a YAML document with millions of values is refused before memory runs out', async () => {
  expect(await problemsOf(`openapi: 3.0.3\nx-a: [${'1,'.repeat(3_100_000)}]`)).toMatch(
    /^api\.yaml:2:\d+: too many values: convert it to JSON$/,
  )
})
