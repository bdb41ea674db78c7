import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { createSchemas } from '../../scripts/generate/named-schemas.ts'
import type { Context } from '../../src/operations/context.ts'
import { Declined } from '../../src/operations/declined.ts'
import { calls, pathOf } from '../../src/operations/offered/offered.ts'
import { roleList, roleShow } from '../../src/operations/roles/roles.ts'
import { checkDocument } from '../support/check-document.ts'
import { runCommand } from '../support/run-command.ts'
import { seededDatabase } from '../support/seeded-database.ts'

async function startContext(): Promise<Context> {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-operations-'))
  const { database, settings } = await seededDatabase(cwd)
  onTestFinished(async () => {
    await database.close()
    await rm(cwd, { recursive: true, force: true })
  })
  const secret = 'a secret of the test that is long enough for anybody'
  await writeFile(join(cwd, 'postern.yaml'), `jwt: { secret: ${secret} }\n${settings}`)
  return {
    ...{ cwd, env: {}, configFile: 'postern.yaml', now: Date.now },
    actor: { kind: 'operator', name: 'ada', origin: 'test' },
    readStdin: async () => '',
    err: (text) => expect.fail(`an operation printed ${text}`),
  }
}

describe('an operation', () => {
  test('returns the document that its command prints as JSON, and prints nothing', async () => {
    const context = await startContext()
    const list = (await roleList.load()).run
    const show = (await roleShow.load()).run

    const { out } = await runCommand('role list --config postern.yaml --output json'.split(' '), {
      cwd: context.cwd,
    })
    expect((await list({}, context)).document).toEqual(JSON.parse(out))
    const { document } = await show({ key: 'admin' }, context)
    expect(document.roleKey).toBe('admin')
    await expect(show({ key: 'nobody' }, context)).rejects.toBeInstanceOf(Declined)
  })

  test('has the schema of its answer in the description of the management API', async () => {
    const { paths, components } = parse(readFileSync('docs/console-openapi.yaml', 'utf8'))
    const found: string[] = []
    for (const call of calls.filter(({ kind }) => kind === 'question')) {
      const { operation } = call
      const answer = paths[`/${pathOf(call)}`].get.responses['200']
      const { schema } = answer.content['application/json']
      const [reference] = (schema.anyOf ?? [schema]).map(({ $ref }: { $ref: string }) => $ref)
      const name = String(reference).replace('#/components/schemas/', '')
      const described = createSchemas()
      described.refer(operation.document, name)
      expect(components.schemas).toMatchObject(described.all())
      found.push(operation.name)
    }

    expect(found).toContain('role list')
    expect(found.length).toBeGreaterThanOrEqual(9)
  })
})

describe('the check of documents by these tests', () => {
  const role = {
    ...{ roleId: '1', roleKey: 'admin', name: 'Admin', dataScope: '1', services: 0 },
    ...{ users: { enabled: 1, disabled: 0 }, dataScopeName: null },
  }

  test.each([
    ['a member too many', { ...role, secret: 'x' }],
    ['a member too few', { ...role, name: undefined }],
    ['another type', { ...role, users: { enabled: '1', disabled: 0 } }],
  ])('finds %s', async (_, wrong) => {
    await checkDocument('role/list', JSON.stringify([role]), '0')

    await expect(checkDocument('role/list', JSON.stringify([wrong]), '0')).rejects.toThrow(
      'role list answers what its schema does not have',
    )
  })
})
