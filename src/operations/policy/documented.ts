import { resolve } from 'node:path'
import { formatProblem, Invalid } from '../../kernel/errors.ts'
import { type OpenApiDocument, readOpenApi } from '../../openapi/document.ts'
import type { Surroundings } from '../context.ts'
import type { PolicySettings } from '../policy-settings.ts'

/** What the documents of `policy.openapi` describe. */
export async function readDocumented({ config }: PolicySettings, io: Pick<Surroundings, 'cwd'>) {
  const read = await Promise.all((config?.policy.openapi ?? []).map((name) => tryRead(name, io)))
  const documents = read.filter((each) => typeof each !== 'string')
  const described = documents.flatMap(({ operations }) => operations)
  return {
    /** As the documents have them. */
    described,
    /** With paths as rules write them: `/orders/:id`. */
    operations: described.flatMap(({ method, path }) => {
      const pattern = asPattern(path)
      return pattern === undefined ? [] : [{ method, path: pattern }]
    }),
    /** Why a document is ignored: answers about the policy do not depend on it. */
    notes: read.filter((each) => typeof each === 'string'),
  }
}

async function tryRead(
  name: string,
  io: Pick<Surroundings, 'cwd'>,
): Promise<OpenApiDocument | string> {
  try {
    return await readOpenApi({ path: resolve(io.cwd, name), name })
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    const [first] = error.problems
    return `policy.openapi: ${first === undefined ? name : formatProblem(first)}; ignored`
  }
}

/** `undefined` for a parameter within a segment, such as `{id}.json`, which no rule can name. */
function asPattern(path: string): string | undefined {
  const pattern = path.replaceAll(/(?<=\/)\{([^{}/]+)\}(?=\/|$)/g, (_, name: string) => {
    return `:${name.replaceAll(/[^\w-]/g, '_')}`
  })
  return /[{}]/.test(pattern) ? undefined : pattern
}
