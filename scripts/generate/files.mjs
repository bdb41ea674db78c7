import { existsSync, readFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { renderingOf } from '../../src/cli/commands/renderings.ts'
import { commandSet } from '../../src/cli/commands/table.ts'
import { configJsonSchema } from '../../src/config/schema/json-schema.ts'
import { clientTypes } from './client-types.ts'
import { commandPages } from './commands.mjs'
import { openApiDocument } from './console-openapi.ts'
import { helmReadme } from './helm-readme.mjs'
import { helmSchema } from './helm-schema.mjs'
import { httpApi } from './http-api.mjs'
import { manPage } from './man-page.ts'
import { refusals } from './refusals.mjs'
import { settings } from './settings.mjs'

/** Each generated file with what makes it. `read` returns files that come before it as they would be now. */
const generators = {
  'config/schema.json': configJsonSchema,
  'docs/settings.md': settings,
  'helm/postern/values.schema.json': helmSchema,
  'helm/postern/README.md': helmReadme,
  'man/postern.1': async () => manPage(await commandSet()),
  'docs/http-api.md': httpApi,
  'docs/refusals.md': refusals,
  'docs/console-openapi.yaml': consoleOpenApi,
  'client/src/api.ts': async () => clientTypes(await openApiDocument(renderingOf)),
}

/** The description of the management API, from its table. */
async function consoleOpenApi() {
  const document = await openApiDocument(renderingOf)
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 100 })
}

/** Every generated file: its text as it should be, and whether the file has another one. */
export async function generatedFiles() {
  const made = new Map()
  const read = (file) => made.get(file) ?? readFileSync(file, 'utf8')
  for (const [file, generate] of Object.entries(generators)) made.set(file, await generate(read))
  for (const [file, text] of await commandPages()) made.set(file, text)
  return Array.from(made, ([file, text]) => {
    const isStale = !existsSync(file) || readFileSync(file, 'utf8') !== text
    return { file, text, isStale }
  })
}
