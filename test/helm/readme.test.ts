import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

describe('the README of the chart', () => {
  const page = readFileSync('helm/postern/README.md', 'utf8')

  test('describes every value', () => {
    const rows = [...page.matchAll(/^\| `(?<name>[^`]+)` \| .*? \| (?<text>.*)\|$/gm)]
    const names = rows.map(({ groups }) => groups?.['name'])

    expect(names.length).toBeGreaterThan(150)
    expect(names).toEqual([...new Set(names)])
    expect(rows.filter(({ groups }) => groups?.['text']?.trim() === '')).toEqual([])
    for (const name of ['enabled', 'config.routes', 'appShutdown.order', 'extraObjects']) {
      expect(names).toContain(name)
    }
  })
})

describe('what Artifact Hub shows', () => {
  const { annotations } = parse(readFileSync('helm/postern/Chart.yaml', 'utf8')) as {
    readonly annotations: Readonly<Record<string, string>>
  }

  test('is in the form that it reads', () => {
    for (const [name, text] of Object.entries(annotations)) {
      expect(name).toMatch(/^artifacthub\.io\/\w+$/)
      expect(text, name).toBeTypeOf('string')
    }
    const changes = parse(annotations['artifacthub.io/changes'] ?? '') as unknown[]
    expect(changes.length).toBeGreaterThan(0)
    for (const change of changes) {
      expect(change).toEqual({
        kind: expect.stringMatching(/^(?:added|changed|deprecated|removed|fixed|security)$/),
        description: expect.stringMatching(/\w/),
      })
    }
  })
})
