// Prints man/postern.1, the manual page, from the commands themselves:
//   node scripts/man-page.mjs > man/postern.1
import { commandSet } from '../src/cli/commands/table.ts'
import { manPage } from '../src/cli/manual/man-page.ts'

process.stdout.write(manPage(await commandSet()))
