// Prints docs/commands.md, the reference of all commands, from the commands themselves:
//   node scripts/commands-doc.mjs > docs/commands.md
import { commandsDocument } from '../src/cli/commands/document.ts'

process.stdout.write(await commandsDocument())
