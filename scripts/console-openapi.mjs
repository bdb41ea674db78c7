// Prints docs/console-openapi.yaml, the description of the management API, from its table:
//   node scripts/console-openapi.mjs > docs/console-openapi.yaml
import { stringify } from 'yaml'
import { findCommand } from '../src/cli/commands/table.ts'
import { openApiDocument } from '../src/console/api/openapi.ts'

const document = await openApiDocument(findCommand)
process.stdout.write(stringify(document, { aliasDuplicateObjects: false, lineWidth: 100 }))
