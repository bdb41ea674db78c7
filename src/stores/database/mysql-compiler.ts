import {
  MysqlDialect,
  type MysqlDialectConfig,
  MysqlQueryCompiler,
  type RawNode,
  type SelectModifierNode,
} from 'kysely'
import { mysqlNode } from './dialect.ts'

/** Kysely's dialect, with a compiler that reads the casts of PostgreSQL and our own fragments. */
export function mysqlDialect(config: MysqlDialectConfig): MysqlDialect {
  return new Dialect(config)
}

class Dialect extends MysqlDialect {
  override createQueryCompiler(): MysqlQueryCompiler {
    return new Compiler()
  }
}

class Compiler extends MysqlQueryCompiler {
  protected override visitRaw(node: RawNode): void {
    const own = mysqlNode(node)
    if (own !== undefined) {
      this.visitNode(own)
      return
    }
    const { sqlFragments, parameters } = node
    for (const [index, parameter] of [...parameters, undefined].entries()) {
      const text = sqlFragments[index] ?? ''
      this.append(castColumns(index === 0 ? text : text.replace(leadingCast, '')))
      if (parameter === undefined) break
      const [before, after] = around(leadingCast.exec(sqlFragments[index + 1] ?? '')?.[1])
      this.append(before)
      this.visitNode(parameter)
      this.append(after)
    }
  }

  /** MariaDB cannot name the table whose rows are locked: it locks those of all. */
  protected override visitSelectModifier({ of: _, ...node }: SelectModifierNode): void {
    super.visitSelectModifier(node)
  }
}

/** The cast of the parameter before this text. */
const leadingCast = /^::(\w+)/

/**
 * How the parameter is cast. As text an ID would be compared as a floating-point number, which is not
 * exact beyond 2^53. A number after `limit` must be a literal, so `int` needs none.
 */
function around(type: string | undefined): readonly [string, string] {
  if (type === 'bigint') return ['cast(', ' as signed)']
  if (type === 'date') return ['cast(', ' as date)']
  return ['', '']
}

/** Casts of a column, or of a function of columns or of one more function. */
function castColumns(text: string): string {
  return (
    text
      .replace(/([\w.]+(?:\((?:[^()]|\([^()]*\))*\))?)::text\b/g, 'cast($1 as char)')
      // The driver returns every integer of eight bytes as text.
      .replace(/([\w.]+\((?:[^()]|\([^()]*\))*\))::int\b/g, '($1 + 0e0)')
      .replace(/\bfor update of \w+/g, 'for update')
  )
}
