import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { copiedDirectory, limits } from './test-databases.ts'

const text = readFileSync('docs/table-columns.md', 'utf8')

/** The columns of every section, as `table.column`. */
function documentedColumns(): readonly string[] {
  return text
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => {
      const table = section.slice(0, section.indexOf('\n'))
      const rows = section.split('\n').filter((line) => line.startsWith('| `'))
      return rows.flatMap((row) => {
        const [, cell = ''] = row.split('|')
        return [...cell.matchAll(/`(\w+)`/g)].map(([, column]) => `${table}.${column}`)
      })
    })
}

async function migratedColumns(): Promise<readonly string[]> {
  const directory = await copiedDirectory()
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const database = await openDatabase({ directory, ...limits })
  onTestFinished(database.close)
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as "name" from information_schema.columns
    where table_schema = 'public'`.execute(database.db)
  return rows.map(({ name }) => name)
}

test('docs/table-columns.md has every column of a migrated database, once, and no other', async () => {
  expect([...documentedColumns()].sort()).toEqual([...(await migratedColumns())].sort())
})

test('docs/table-columns.md says of every table who writes it and whether it may be emptied', () => {
  const page = readFileSync('docs/tables.md', 'utf8')
  const rows = page.matchAll(/^\| \[`(\w+)`\]\(table-columns\.md#(\w+)\)/gm)
  const overview = [...rows].map(([, table, link]) => {
    expect(link).toBe(table)
    return table
  })
  const sections = [...text.matchAll(/^## (\w+)$/gm)].map(([, table]) => table)

  expect(sections).toEqual(overview)
  for (const section of text.split(/^## /m).slice(1)) {
    expect(section).toMatch(/[Ww]ritten/)
    expect(section).toMatch(/[Dd]elet|empty|[Rr]emove|deletions/)
  }
})
