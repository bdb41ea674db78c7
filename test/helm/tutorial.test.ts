import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { foreignKinds, type Manifest, only, render, validate } from '../support/chart.ts'
import { blocksOf } from '../support/page-blocks.ts'

test('docs/tutorial-kubernetes.md: its values and policy render to valid objects', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-tutorial-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const page = readFileSync('docs/tutorial-kubernetes.md', 'utf8')
  for (const block of blocksOf(page)) {
    if (block.kind !== 'file') continue
    mkdirSync(dirname(join(directory, block.name)), { recursive: true })
    writeFileSync(join(directory, block.name), block.text)
  }
  const setFile = Object.fromEntries(
    [...page.matchAll(/--set-file '([^=]+)=([^']+)'/g)].map(([, value = '', file = '']) => [
      value,
      join(directory, file),
    ]),
  )
  expect(Object.keys(setFile)).toHaveLength(3)

  const manifests = render({ files: [join(directory, 'values')], setFile })

  const { spec } = only(manifests, 'Deployment') as { spec: { replicas: number } }
  expect(spec.replicas).toBe(1)
  const held = manifests.filter(({ kind }) => kind === 'ConfigMap').map(({ data }) => data)
  expect(JSON.stringify(held)).toContain('p, member, /notes, GET')
  const service = parseAllDocuments(readFileSync(join(directory, 'notes.yaml'), 'utf8'))
  const own = service.map((document) => document.toJS() as Manifest)
  expect(own.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Deployment', 'Service'])
  for (const each of [...manifests, ...own]) {
    if (!foreignKinds.includes(each.kind)) await validate(each)
  }
})
