import { expect, test } from 'vitest'

interface GeneratedFile {
  readonly file: string
  readonly isStale: boolean
}

test('every generated file is as "npm run generate" writes it', async () => {
  const { generatedFiles } = (await import('../scripts/generate/files.mjs' as string)) as {
    readonly generatedFiles: () => Promise<readonly GeneratedFile[]>
  }
  const files = await generatedFiles()

  expect(files.length).toBeGreaterThan(8)
  expect(files.filter(({ isStale }) => isStale).map(({ file }) => file)).toEqual([])
})
