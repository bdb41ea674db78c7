import { randomUUID } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../../../kernel/errors.ts'
import { codeOf } from '../../files/contained-file.ts'

/**
 * Replaces `policy.csv` of a directory in one step, so that a gateway that watches it never reads half
 * of it. A link of that name is replaced and not followed.
 */
export async function writeImportedTable(
  directory: string,
  text: string,
  shown = directory,
): Promise<void> {
  const unfinished = join(directory, `.policy.csv.${randomUUID()}`)
  try {
    await writeFile(unfinished, text, { flag: 'wx' })
    await rename(unfinished, join(directory, 'policy.csv'))
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {})
    const reason = `${shown}/policy.csv cannot be written (${codeOf(error)})`
    throw new Fault('policies', { reason })
  }
}
