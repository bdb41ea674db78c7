/**
 * What every connection begins with, whatever the server's defaults are. MySQL and MariaDB each read
 * their own comments.
 *
 * - Texts that we send compare exactly, as in PostgreSQL.
 * - A value that does not fit is an error; otherwise a password hash would be cut silently.
 * - "name" is an identifier. `NO_BACKSLASH_ESCAPES` must never be set: the driver escapes with them.
 * - The driver writes times in UTC.
 * - A transaction sees what others committed meanwhile, as it does in PostgreSQL.
 * - Locks are given up before the statement is: a statement that we no longer wait for must not run
 *   later, and a transaction that rolls back lets others go on.
 */
export function sessionSettings(statementTimeoutMs: number): string {
  const seconds = statementTimeoutMs / 1000
  const lockSeconds = Math.max(1, Math.floor(seconds / 2))
  return `set names utf8mb4 collate ${exactCollation},
    time_zone = '+00:00',
    sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ANSI_QUOTES',
    innodb_lock_wait_timeout = ${lockSeconds}, lock_wait_timeout = ${lockSeconds}
    /*M!100100 , tx_isolation = 'READ-COMMITTED', max_statement_time = ${seconds} */
    /*!80000 , transaction_isolation = 'READ-COMMITTED', max_execution_time = ${statementTimeoutMs},
      information_schema_stats_expiry = 0 */`
}

/** Byte for byte, blanks at the end included: the only collation that compares as PostgreSQL does. */
export const exactCollation = '/*M!100100 utf8mb4_nopad_bin */ /*!80017 utf8mb4_0900_bin */'
